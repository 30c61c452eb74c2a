import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What the cache may hold, and what a pass added to it. */
export interface Pruning {
  /** In bytes. */
  readonly size: number
  readonly bytesAdded: number
}

const day = 24 * 60 * 60 * 1000
const unusedFor = 30 * day

/**
 * Removes entries that were not used for 30 days and, while the rest is above the size, those that were not
 * used for longest; then what no entry names. Looks once a day, and after a pass that added much. A build that
 * uses the cache meanwhile may miss what it had.
 */
export async function pruneCache(directory: string, { size, bytesAdded }: Pruning): Promise<void> {
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
  await writeFile(marker, '')
  if (!isDue) return

  const { default: cacache } = await import('cacache')
  const entries = Object.values(await cacache.ls(directory)).toSorted((a, b) => b.time - a.time)
  const wanted = new Set<string>()
  let held = 0
  for (const { key, size: entrySize, time } of entries) {
    held += entrySize
    if (held <= size && Date.now() - time < unusedFor) wanted.add(key)
  }
  // A function, as its README says; its types have it for a string.
  const options: object = { filter: ({ key }: { readonly key: string }) => wanted.has(key) }
  await cacache.verify(directory, options)
}
