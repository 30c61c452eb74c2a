import type { PreparedWorkload } from '../serve/load/workload.ts'
import { type CheckedAndStarted, type MeasureOptions, startAndCheck } from '../serve/measure/measure.ts'
import { addTo, emptyRow } from '../serve/measure/run-rounds.ts'
import type { FoundServer } from '../serve/peers/server-definition.ts'
import type { Row } from '../serve/report/report.ts'
import { isAbout, isDecided } from './judge.ts'
import type { Part } from './plan.ts'
import { targets } from './targets.ts'

/** How the rounds of a workload are run. */
export interface PartOptions extends MeasureOptions {
  readonly rounds: number
  /** Of servers that no target is about. */
  readonly peerRounds: number
  readonly onProgress: (step: string, server: string) => void
}

/** A server is another process after so many rounds: what its memory looks like differs by chance, and so does its speed. */
const roundsOfProcess = 5

/** In seconds: a server that stands is warm, and what is cold are the core's caches and the connections. */
const shortWarmUp = 0.2

/**
 * Measures servers at one workload in turn, round after round (A B C A B C …), each until it had its rounds or further
 * ones would change no verdict of it.
 */
export async function runPart(
  part: Part,
  {
    prepared,
    servers,
  }: { readonly prepared: PreparedWorkload; readonly servers: ReadonlyMap<string, FoundServer> },
  { rounds, peerRounds, onProgress, ...options }: PartOptions,
): Promise<readonly Row[]> {
  const { name } = part.workload
  const cores = `${options.serverCores},${options.loadCores}`
  const sharing =
    part.workers === undefined ? {} : { workers: part.workers, serverCores: cores, loadCores: cores }
  const seconds = Math.max(options.seconds, part.workload.leastSeconds ?? 0)
  const measuring = { ...options, ...sharing, seconds }
  const rows = new Map<string, Row>()
  const started = new Map<string, CheckedAndStarted>()
  // What is decided stays so: of a server that left and came back, nobody would know which rounds were whose.
  let undecided = targets.filter(({ workloads }) => workloads.includes(name))
  try {
    for (let round = 1; round <= rounds; round += 1) {
      undecided = undecided.filter((target) => !isDecided([...rows.values()], target, name))
      if (part.isFresh === true || round % roundsOfProcess === 1) await stopAll(started)
      for (const [server, found] of servers) {
        const row = rows.get(server) ?? emptyRow(server, found.version, name, options.connections)
        const isWanted = round <= peerRounds || undecided.some((target) => isAbout(target, server))
        if (row.void !== undefined || !isWanted) continue
        onProgress(`round ${round} of ${rounds}: ${name}`, server)
        const taken = await addTo(row, async () => {
          const kept = started.get(server)
          if (kept !== undefined) return kept.measure(Math.min(shortWarmUp, options.warmUpSeconds))
          const fresh = await startAndCheck(found, prepared, measuring)
          started.set(server, fresh)
          return fresh.measure(options.warmUpSeconds)
        })
        rows.set(server, taken)
        if (part.isFresh === true || taken.void !== undefined) await stopOne(started, server)
      }
    }
  } finally {
    await stopAll(started)
  }
  return [...rows.values()]
}

async function stopAll(started: Map<string, CheckedAndStarted>): Promise<void> {
  for (const name of started.keys()) await stopOne(started, name)
}

async function stopOne(started: Map<string, CheckedAndStarted>, name: string): Promise<void> {
  const server = started.get(name)
  started.delete(name)
  await server?.stop()
}
