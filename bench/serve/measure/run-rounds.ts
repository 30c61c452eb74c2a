import type { PreparedWorkload, Workload } from '../load/workload.ts'
import type { FoundServer } from '../peers/server-definition.ts'
import type { Row } from '../report/report.ts'
import { withoutPaths } from '../report/without-paths.ts'
import { VoidRow } from './check-server.ts'
import { measure, type Measured, type MeasureOptions } from './measure.ts'

/** A workload and the servers that take turns at it. */
export interface Turn {
  readonly workload: Workload
  readonly prepared: PreparedWorkload
  readonly servers: ReadonlyMap<string, FoundServer>
}

/** Everything that is measured. */
export interface RoundsInput {
  readonly turns: readonly Turn[]
  readonly connections: readonly number[]
  readonly rounds: number
  /** For those that are done after fewer rounds than the others. */
  readonly roundsOf?: (server: string, workload: string) => number
  readonly onProgress: (step: string, server: string) => void
  /** Called with all rows so far, whenever each server had its turn. */
  readonly onRows: (rows: readonly Row[]) => Promise<void>
}

/** Measures servers in turn, round after round (A B C A B C …); a void row takes no further turn. */
export async function runRounds(
  { turns, connections: counts, rounds, roundsOf = () => rounds, onProgress, onRows }: RoundsInput,
  options: Omit<MeasureOptions, 'connections'>,
): Promise<readonly Row[]> {
  const rows = new Map<string, Row>()
  for (let round = 1; round <= rounds; round += 1) {
    for (const { workload, prepared, servers } of turns) {
      const seconds = Math.max(options.seconds, workload.leastSeconds ?? 0)
      for (const connections of counts) {
        for (const [name, server] of servers) {
          const id = [workload.name, connections, name].join(' ')
          const row = rows.get(id) ?? emptyRow(name, server.version, workload.name, connections)
          if (row.void !== undefined || round > roundsOf(name, workload.name)) continue
          onProgress(`round ${round} of ${rounds}: ${workload.name}, ${connections} connections`, name)
          const turn = { ...options, connections, seconds }
          rows.set(id, await addTo(row, () => measure(server, prepared, turn)))
        }
        await onRows([...rows.values()])
      }
    }
  }
  return [...rows.values()]
}

/** A row that no round was added to. */
export function emptyRow(server: string, version: string, workload: string, connections: number): Row {
  return { server, version, workload, connections, samples: [], codings: [], remarks: [], void: undefined }
}

/** Adds what is measured to a row, or the reason for which it is void. */
export async function addTo(row: Row, measureIt: () => Promise<Measured>): Promise<Row> {
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
    // Numbers of earlier rounds mean nothing either.
    return { ...row, samples: [], void: withoutPaths(error.message) }
  }
}
