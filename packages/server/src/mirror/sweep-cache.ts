import { type Stats, statSync } from 'node:fs'
import { readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'

/** A blob in the cache. */
export interface CachedBlob {
  readonly sha256: string
  /** In bytes. */
  readonly size: number
  /** The time of the last access or change, in milliseconds since the epoch. */
  readonly used: number
}

/** The age in milliseconds from which temporary files and files of old builds count as leftovers. */
const leftoverAge = 60 * 60 * 1000
/** The number of files to inspect between turns of the event loop; each takes some microseconds. */
const atOnce = 200

/**
 * Deletes the leftovers of killed processes in a cache.
 *
 * @param isNeeded - returns whether to keep a file that is not a blob.
 * @returns the blobs in the cache.
 */
export async function sweepCache(
  cache: string,
  isNeeded: (file: string) => boolean,
): Promise<readonly CachedBlob[]> {
  const blobs: CachedBlob[] = []
  const now = Date.now()
  for (const folder of [cache, join(cache, 'generations'), join(cache, 'deltas'), join(cache, 'blobs')]) {
    for (const [index, name] of (await readdir(folder).catch(() => [])).entries()) {
      if (index % atOnce === atOnce - 1) await setImmediate()
      const file = join(folder, name)
      const found = lookAt(file)
      if (found?.isFile() !== true) continue
      if (folder.endsWith('blobs') && /^[0-9a-f]{64}$/.test(name)) {
        blobs.push({ sha256: name, size: found.size, used: Math.max(found.atimeMs, found.mtimeMs) })
      } else if (now - found.mtimeMs > leftoverAge && !isNeeded(file)) {
        await unlink(file).catch(() => {})
      }
    }
  }
  return blobs
}

/** Another process may delete the file at any moment. */
function lookAt(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
