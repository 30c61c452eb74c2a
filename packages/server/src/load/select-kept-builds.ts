import { defaultRetention, isRetained } from '@serve-dist/manifest'
import { isKeptOpen } from '../files/kept-file.ts'
import { isKeptFile, type KeptBuild, type StoredBuild } from '../site/kept-build.ts'
import type { ResolvedServing } from '../site/resolve-serving.ts'
import type { ManifestEntry, StoredBytes } from '../site/site.ts'
import { describeFutureTimes } from './describe-future-times.ts'

/** A build that this process served before, with what is left of it. */
export interface EarlierBuild extends KeptBuild {
  /** Milliseconds since the epoch. */
  readonly superseded: number
}

/** What may be kept of all builds together, the current one included. */
export interface KeepLimits {
  /** Bytes of bodies in memory. */
  readonly memoryBudget: number
  /** Files that stay open. */
  readonly openFiles: number
  /** Milliseconds since the epoch. */
  readonly now: number
  /** What stands for bytes that there is no room for; where there is something, nothing is too old either. */
  readonly coldBytesOf?: ((entry: ManifestEntry) => StoredBytes) | undefined
}

/** Bytes that count for each kept body besides its own: its place in the table, and its answers. */
const overhead = 2048

/**
 * Chooses what of earlier builds is answered beside a new one: bodies that were held and files that were open, as long as
 * the new build leaves room for them. Where it does not, the oldest builds lose theirs first.
 *
 * @param earlier - the newest first.
 * @returns builds with nothing but the files that are kept, so that what is let go leaves no trace.
 */
export function selectKeptBuilds(
  { manifest: current, stored }: StoredBuild,
  serving: Pick<ResolvedServing, 'immutable'>,
  earlier: readonly EarlierBuild[],
  { memoryBudget, openFiles, now, coldBytesOf }: KeepLimits,
): readonly EarlierBuild[] {
  const room = roomBeside(stored.values(), { memoryBudget, openFiles })
  const taken = new Set(current.files.map(({ path }) => current.base + path))
  const isWanted = ({ superseded }: EarlierBuild, index: number): boolean =>
    coldBytesOf !== undefined || isRetained(index, now - superseded, defaultRetention)

  return earlier
    .filter((build) => build.manifest.buildId !== current.buildId)
    .filter(isWanted)
    .flatMap((build) => {
      const bytes = new Map<ManifestEntry, StoredBytes>()
      const files = build.manifest.files
        .filter((file) => isKeptFile(build, file, serving) && !taken.has(build.manifest.base + file.path))
        .filter((file) => {
          for (const entry of [file, ...file.variants]) {
            const found = build.stored.get(entry)
            const hasRoom = found !== undefined && room.take(found)
            const kept = hasRoom ? inMemoryOfItsOwn(found) : coldBytesOf?.(entry)
            if (kept !== undefined) bytes.set(entry, kept)
            // Without the file itself its variants are of no use.
            else if (entry === file) return false
          }
          taken.add(build.manifest.base + file.path)
          return true
        })
      if (files.length === 0) return []
      const isAhead = describeFutureTimes(build.manifest) !== undefined
      const manifest = { ...build.manifest, ...(isAhead && { timesAreFixed: true as const }), files }
      return [{ manifest, stored: bytes, superseded: build.superseded }]
    })
}

interface Room {
  /** Whether there is room for these bytes; then it is less by them. */
  take(stored: StoredBytes): boolean
}

/** What a build leaves of memory and descriptors. */
function roomBeside(
  current: Iterable<StoredBytes>,
  { memoryBudget, openFiles }: Pick<KeepLimits, 'memoryBudget' | 'openFiles'>,
): Room {
  let memory = memoryBudget
  let open = openFiles
  for (const stored of current) {
    if (stored.body !== undefined) memory -= stored.size
    else if (isKeptOpen(stored)) open -= 1
  }
  return {
    take(stored) {
      if (stored.body === undefined) {
        if (open < 1 || !isKeptOpen(stored)) return false
        open -= 1
      } else {
        if (memory < stored.size + overhead) return false
        memory -= stored.size + overhead
      }
      return true
    },
  }
}

/** Small bodies share an allocation with others of their build, which would stay as long as any of them. */
function inMemoryOfItsOwn(stored: StoredBytes): StoredBytes {
  const { body, size } = stored
  if (body === undefined || body.buffer.byteLength <= size + 1) return stored
  return { size, body: body.slice() }
}
