import type { PreparedWorkload, Workload } from '../load/workload.ts'
import type { FoundServer } from '../peers/server-definition.ts'
import { showProgress } from '../progress.ts'
import type { Row } from '../report/report.ts'
import { removePaths } from '../report/remove-paths.ts'
import { VoidRow } from './check-server.ts'
import { type CheckedAndStarted, type Measured, type MeasureOptions, startAndCheck } from './measure.ts'

/** A workload and its servers, which take turns. */
export interface RoundsInput {
  readonly workload: Workload
  readonly prepared: PreparedWorkload
  readonly servers: ReadonlyMap<string, FoundServer>
  readonly rounds: number
  /** The number of rounds after which servers are restarted. @default 1 */
  readonly roundsOfProcess?: number | undefined
  /** Called when a round begins: tells which servers need it. @default all */
  readonly chooseServers?: ((round: number, rows: readonly Row[]) => (server: string) => boolean) | undefined
}

/** In seconds. A server that keeps running is warm: only the core's caches and the connections are cold. */
const shortWarmUp = 0.2

/** Measures servers in turn, round after round (A B C A B C …). A server with a void row has no further turns. */
export async function runRounds(
  { workload: { name }, prepared, servers, rounds, ...input }: RoundsInput,
  options: MeasureOptions,
): Promise<readonly Row[]> {
  const { roundsOfProcess = 1, chooseServers = () => () => true } = input
  const rows = new Map<string, Row>()
  const started = new Map<string, CheckedAndStarted>()
  const stop = async (server: string): Promise<void> => {
    await started.get(server)?.stop()
    started.delete(server)
  }
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const isWanted = chooseServers(round, [...rows.values()])
      for (const [server, found] of servers) {
        const row = rows.get(server) ?? emptyRow(server, found.version, name, options.connections)
        if (row.void !== undefined || !isWanted(server)) {
          await stop(server)
          continue
        }
        showProgress(`round ${round} of ${rounds}: ${name}`, server)
        const taken = await addTo(row, async () => {
          const running = started.get(server)
          if (running !== undefined) return running.measure(Math.min(shortWarmUp, options.warmUpSeconds))
          const fresh = await startAndCheck(found, prepared, options)
          started.set(server, fresh)
          return fresh.measure(options.warmUpSeconds)
        })
        rows.set(server, taken)
        if (round % roundsOfProcess === 0 || taken.void !== undefined) await stop(server)
      }
    }
  } finally {
    for (const server of started.keys()) await stop(server)
  }
  return [...rows.values()]
}

function emptyRow(server: string, version: string, workload: string, connections: number): Row {
  return { server, version, workload, connections, samples: [], codings: [], remarks: [], void: undefined }
}

/** Adds a sample to a row, or the reason for which the row is void. */
async function addTo(row: Row, measureIt: () => Promise<Measured>): Promise<Row> {
  try {
    const { sample, codings, remarks } = await measureIt()
    return {
      ...row,
      samples: [...row.samples, sample],
      codings: [...new Set([...row.codings, ...codings])],
      remarks: [...new Set([...row.remarks, ...remarks])],
    }
  } catch (error) {
    if (!(error instanceof VoidRow)) throw error
    // The numbers of earlier rounds are not valid either.
    return { ...row, samples: [], void: removePaths(error.message) }
  }
}
