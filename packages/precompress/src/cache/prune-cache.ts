import { constants } from 'node:fs'
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { entriesFolder, isTemporary } from './cache-entry.ts'
import { safeOpenFlags } from '../folder/disk.ts'

/** What the cache may hold, and what a pass added to it. */
export interface Pruning {
  /** In bytes. */
  readonly size: number
  readonly bytesAdded: number
  /** For tests of what the system does not remove. */
  readonly remove?: (path: string) => Promise<void>
}

const day = 24 * 60 * 60 * 1000
/** In milliseconds. */
export const maximumUnusedTime: number = 30 * day

/**
 * Removes entries that were not used for 30 days, what a killed pass left half-written a day ago and, while the rest
 * is above the size, what was not used for longest. Looks once a day, and after a pass that added much. A build that
 * uses the cache meanwhile may miss what it had.
 */
export async function pruneCache(
  directory: string,
  { size, bytesAdded, remove = removeFile }: Pruning,
): Promise<void> {
  const marker = join(directory, 'pruned')
  // A cache without the mark is new.
  const prunedAt = await stat(marker).then(
    ({ mtimeMs }) => mtimeMs,
    () => Infinity,
  )
  const isDue = Date.now() - prunedAt > day || bytesAdded > size / 16
  if (!isDue && prunedAt !== Infinity) return
  await mkdir(directory, { recursive: true })
  // First, so that a build that ends at the same time leaves it to this one.
  await (
    await open(marker, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | safeOpenFlags)
  ).close()
  if (!isDue) return

  const entries = await listEntries(directory)
  let held = 0
  for (const entry of entries.toSorted((a, b) => b.usedAt - a.usedAt)) {
    held += entry.size
    const isOld = Date.now() - entry.usedAt > (isTemporary(entry.path) ? day : maximumUnusedTime)
    // One that the system does not let go keeps no other.
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

/** Every file among the entries. */
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
