import { defaultRetention, isRetained } from '@serve-dist/manifest'
import { isKeptOpen } from '../files/kept-file.ts'
import { isKeptFile, type KeptBuild, type StoredBuild } from '../site/kept-build.ts'
import type { ResolvedServing } from '../site/resolve-serving.ts'
import type { ManifestEntry, StoredBytes } from '../site/site.ts'
import { describeFutureTimes } from './describe-future-times.ts'

/** A build that was served before, and its remaining files. */
export interface EarlierBuild extends KeptBuild {
  /** Milliseconds since the epoch. */
  readonly superseded: number
}

/** The limits for all builds together, including the current one. */
export interface KeepLimits {
  readonly memoryBudget: number
  readonly openFiles: number
  /** The current time in milliseconds since the epoch. */
  readonly now: number
  /** Returns a source for bytes without room in memory. If it is present, builds of any age are kept. */
  readonly coldBytesOf?: ((entry: ManifestEntry) => StoredBytes | undefined) | undefined
}

/** The bytes that each body needs besides its own size: its entry in the table and its prepared responses. */
export const overhead = 2048

/**
 * Selects the files of earlier builds that are served next to a new build: bodies that were in memory and files that were
 * open. If there is too little room, the oldest builds lose their files first.
 *
 * @param earlier - the earlier builds, the newest first.
 * @returns the builds with only the kept files, so that the rest can be garbage-collected.
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
            // Variants are useless without the file itself.
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
  /** Reserves room for these bytes. Returns whether there was enough. */
  take(stored: StoredBytes): boolean
}

/** Returns the memory and the descriptors that a build leaves free. */
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

/** Copies a small body, which would otherwise keep a shared allocation of its build in memory. */
function inMemoryOfItsOwn(stored: StoredBytes): StoredBytes {
  const { body, size } = stored
  if (body === undefined || body.buffer.byteLength <= size + 1) return stored
  return { size, body: body.slice() }
}
