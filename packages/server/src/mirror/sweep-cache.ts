import { type Stats, statSync } from 'node:fs'
import { readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'

/** A blob that lies in the cache. */
export interface CachedBlob {
  readonly sha256: string
  /** In bytes. */
  readonly size: number
  /** When it was last read or written, in milliseconds since the epoch. */
  readonly used: number
}

/** Milliseconds after which nobody writes to a file any more that was written aside, or needs a build that was let go. */
const leftoverAge = 60 * 60 * 1000
/** So many files are looked at between looks at the event loop: one takes some microseconds. */
const atOnce = 200

/**
 * Takes away what killed processes have left in a cache.
 *
 * @param isNeeded - of the files that are no blobs.
 * @returns the blobs that are there.
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

/** Another process may take it away at any moment. */
function lookAt(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
