import type { StoreBackend, Stoppable } from './backend.ts'
import { sumBytes } from './sum-bytes.ts'
import { readHead } from './history/swap-history.ts'
import type { HistoryRow } from './layout.ts'
import { readBuilds } from './read-builds.ts'

/** A build that a store keeps. */
export interface Generation {
  readonly id: string
  readonly isCurrent: boolean
  /** When it became current, the last time: ISO 8601, UTC. */
  readonly published: string
  /** When another took its place; absent of the current one. */
  readonly superseded?: string
  /** Whether a rollback made it current, the last time. */
  readonly isRestored: boolean
  /** Distinct contents, those of variants left out. */
  readonly files: number
  /** Of its files, their variants and deltas, each content once. */
  readonly bytes: number
  /** How many of them no other build has. */
  readonly ownBytes: number
  /** Why it cannot be served; absent where it can. */
  readonly problem?: string
}

/**
 * The builds that a store keeps, newest first by when they were current last: the first is the current one.
 *
 * @throws OperatorError `SD_STORE_UNAVAILABLE`, or `SD_STORE_INVALID` where the history cannot be read.
 */
export async function listGenerations(
  store: StoreBackend,
  { signal }: Stoppable = {},
): Promise<readonly Generation[]> {
  const { history } = (await readHead(store, { signal })).history
  const rows = new Map(history.toReversed().map((row) => [row.id, row]))
  const builds = await readBuilds(store, rows.keys(), { signal })
  const holders = new Map<string, number>()
  for (const blobs of builds.blobs.values()) {
    for (const { sha256 } of blobs) holders.set(sha256, (holders.get(sha256) ?? 0) + 1)
  }
  const describe = ({ id, number, published, superseded, restores }: HistoryRow): Generation => {
    const blobs = builds.blobs.get(id) ?? []
    const isMissing = builds.missing.has(id)
    const problem = isMissing ? 'the store has no manifest of it' : builds.unreadable.get(id)?.message
    return {
      id,
      isCurrent: number === history[0]?.number,
      published,
      ...(superseded !== undefined && { superseded }),
      isRestored: restores !== undefined,
      files: builds.generations.get(id)?.originals.size ?? 0,
      bytes: sumBytes(blobs),
      ownBytes: sumBytes(blobs.filter(({ sha256 }) => holders.get(sha256) === 1)),
      ...(problem !== undefined && { problem }),
    }
  }
  return [...rows.values()].toSorted((a, b) => b.number - a.number).map(describe)
}
