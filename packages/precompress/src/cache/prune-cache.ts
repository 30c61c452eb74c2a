import { constants } from 'node:fs'
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { entriesFolder, isTemporary } from './cache-entry.ts'
import { safeOpenFlags } from '../folder/disk.ts'

/** The limit of the cache, and the growth in this compression. */
export interface Pruning {
  /** Maximum size of the cache in bytes. */
  readonly size: number
  readonly bytesAdded: number
  /** Replaces the removal of a file, for tests of failures. */
  readonly remove?: (path: string) => Promise<void>
}

const day = 24 * 60 * 60 * 1000
/** Maximum time since the last use of an entry, in milliseconds. */
export const maximumUnusedTime: number = 30 * day

/**
 * Removes old entries from the cache.
 *
 * It removes entries that were not used for 30 days, and temporary files that are older than one day. If the rest
 * exceeds the size, it removes the least recently used entries. It runs once a day, and after a compression that added
 * much. A concurrent build may miss entries that this function removes.
 */
export async function pruneCache(
  directory: string,
  { size, bytesAdded, remove = removeFile }: Pruning,
): Promise<void> {
  const marker = join(directory, 'pruned')
  // A cache without this file is new.
  const prunedAt = await stat(marker).then(
    ({ mtimeMs }) => mtimeMs,
    () => Infinity,
  )
  const isDue = Date.now() - prunedAt > day || bytesAdded > size / 16
  if (!isDue && prunedAt !== Infinity) return
  await mkdir(directory, { recursive: true })
  // Write the file first, so that a concurrent build skips the pruning.
  await (
    await open(marker, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | safeOpenFlags)
  ).close()
  if (!isDue) return

  const entries = await listEntries(directory)
  let held = 0
  for (const entry of entries.toSorted((a, b) => b.usedAt - a.usedAt)) {
    held += entry.size
    const isOld = Date.now() - entry.usedAt > (isTemporary(entry.path) ? day : maximumUnusedTime)
    // Continue if the system cannot remove an entry.
    if (held > size || isOld) await remove(entry.path).catch(() => undefined)
  }
}

async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true })
}

interface Entry {
  readonly path: string
  /** In bytes. */
  readonly size: number
  /** In milliseconds since 1970. */
  readonly usedAt: number
}

/** Lists the files of all entries. */
async function listEntries(directory: string): Promise<Entry[]> {
  const names = await readdir(entriesFolder(directory), { recursive: true, withFileTypes: true })
  const entries: Entry[] = []
  for (const name of names) {
    if (!name.isFile()) continue
    const path = join(name.parentPath, name.name)
    const found = await stat(path).catch(() => undefined)
    if (found !== undefined) entries.push({ path, size: found.size, usedAt: found.mtimeMs })
  }
  return entries
}
