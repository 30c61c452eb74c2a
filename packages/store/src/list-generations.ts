import type { StoreBackend, Stoppable } from './backend.ts'
import { sumBytes } from './sum-bytes.ts'
import { publishedOf } from './history/next-history.ts'
import { readHead } from './history/swap-history.ts'
import type { HistoryRow } from './layout.ts'
import { readBuilds } from './read-builds.ts'

/** A build that a store keeps. */
export interface Generation {
  readonly id: string
  readonly isCurrent: boolean
  /** The time of its last publish: ISO 8601, UTC. */
  readonly published: string
  /** The time of the rollback that made it current the last time, if it was a rollback. */
  readonly restored?: string
  /** The time at which another build replaced it. Absent for the current build. */
  readonly superseded?: string
  /** Whether a rollback made it current the last time. */
  readonly isRestored: boolean
  /** The number of files that a server sends, without variants. */
  readonly files: number
  /** The number of bytes of its files, variants and deltas, with each blob counted once. */
  readonly bytes: number
  /** The number of those bytes that no other build has. */
  readonly ownBytes: number
  /** The reason why the build cannot be served, if there is one. */
  readonly problem?: string
}

/**
 * Lists the builds of a store, ordered by the time at which they were last current. The current build is the first.
 *
 * @throws OperatorError `SD_STORE_UNAVAILABLE`, or `SD_STORE_INVALID` if the history cannot be read.
 */
export async function listGenerations(
  store: StoreBackend,
  { signal }: Stoppable = {},
): Promise<readonly Generation[]> {
  const head = await readHead(store, { signal })
  const { history } = head.history
  const rows = new Map(history.toReversed().map((row) => [row.id, row]))
  const builds = await readBuilds(store, rows.keys(), { history: head.history, signal })
  const holders = new Map<string, number>()
  for (const blobs of builds.blobs.values()) {
    for (const { sha256 } of blobs) holders.set(sha256, (holders.get(sha256) ?? 0) + 1)
  }
  const describe = (row: HistoryRow): Generation => {
    const { id, number, superseded, restores } = row
    const blobs = builds.blobs.get(id) ?? []
    const isMissing = builds.missing.has(id)
    const problem = isMissing ? 'the store does not have its manifest' : builds.unreadable.get(id)?.message
    return {
      id,
      isCurrent: number === history[0]?.number,
      published: publishedOf(head.history, row),
      ...(restores !== undefined && { restored: row.published }),
      ...(superseded !== undefined && { superseded }),
      isRestored: restores !== undefined,
      files: builds.generations.get(id)?.files ?? 0,
      bytes: sumBytes(blobs),
      ownBytes: sumBytes(blobs.filter(({ sha256 }) => holders.get(sha256) === 1)),
      ...(problem !== undefined && { problem }),
    }
  }
  return [...rows.values()].toSorted((a, b) => b.number - a.number).map(describe)
}
