import { VoidRow } from './check-server.ts'
import { collectRows, type RowCollection, type RowKey } from './collect-rows.ts'
import { measureStarted, type MeasureOptions } from './measure.ts'
import type { Row } from '../report/report.ts'
import type { FoundServer } from '../peers/server-definition.ts'
import { standServers, type StandingServers } from './standing-servers.ts'
import { withoutPaths } from '../report/without-paths.ts'
import { groupBySite, type Turn } from './turn.ts'

/** What takes turns at what. */
export interface RoundsInput {
  readonly turns: readonly Turn[]
  readonly connections: readonly number[]
  readonly rounds: number
  readonly onProgress: (step: string, server: string) => void
  /** Called with all rows so far, whenever each server had its turn. */
  readonly onRows: (rows: readonly Row[]) => Promise<void>
}

/**
 * Measures servers in turn, round after round (A B C A B C …); a row that is void takes no further turn. A server
 * is started once a round for all that is asked of one folder, and waits while others have their turn.
 */
export async function runRounds(
  input: RoundsInput,
  options: Omit<MeasureOptions, 'connections'>,
): Promise<readonly Row[]> {
  const collection = collectRows()
  const groups = groupBySite(input.turns)
  for (let round = 1; round <= input.rounds; round += 1) {
    for (const group of groups) {
      const standing = standServers(options)
      try {
        for (const turn of group) await runTurn({ turn, round, standing, collection }, input, options)
      } finally {
        await standing.stop()
      }
    }
  }
  return collection.rows()
}

interface TurnInRound {
  readonly turn: Turn
  readonly round: number
  readonly standing: StandingServers
  readonly collection: RowCollection
}

async function runTurn(
  { turn, round, standing, collection }: TurnInRound,
  { connections: counts, rounds, onProgress, onRows }: RoundsInput,
  options: Omit<MeasureOptions, 'connections'>,
): Promise<void> {
  const { workload, servers } = turn
  for (const [index, connections] of counts.entries()) {
    for (const [name, server] of servers) {
      const key = { server: name, version: server.version, workload: workload.name, connections }
      if (collection.isVoid(key)) continue
      onProgress(`round ${round} of ${rounds}: ${workload.name}, ${connections} connections`, name)
      const seconds = Math.max(options.seconds, workload.leastSeconds ?? 0)
      // Warm for one number of connections is warm for the others.
      const warmUpSeconds = index === 0 ? options.warmUpSeconds : 0
      await runLoad(
        { key, server, turn, standing, collection },
        {
          ...options,
          connections,
          seconds,
          warmUpSeconds,
        },
      )
    }
    await onRows(collection.rows())
  }
}

interface Load extends Omit<TurnInRound, 'round'> {
  readonly key: RowKey
  readonly server: FoundServer
}

async function runLoad(
  { key, server, turn, standing, collection }: Load,
  options: MeasureOptions,
): Promise<void> {
  try {
    const ready = await standing.ready(key.server, server, turn.prepared)
    collection.add(key, await measureStarted(ready, options))
  } catch (error) {
    if (!(error instanceof VoidRow)) throw error
    collection.void(key, withoutPaths(error.message))
    await standing.drop(key.server)
  }
}
