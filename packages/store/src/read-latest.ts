import type { Download, Manifest } from '@serve-dist/manifest'
import type { Stoppable, StoreBackend } from './backend.ts'
import { readHead } from './history/swap-history.ts'
import { computeDownload } from './publish/compute-download.ts'
import { readDeltas, readGeneration } from './read-documents.ts'
import { generationBlobsOf } from './read-builds.ts'

/** The current build of a store and its download for returning visitors. */
export interface LatestBuild {
  readonly build: Manifest
  /** The previous current build. Absent if the store has no other build. */
  readonly replaced?: Manifest
  /** Absent if `replaced` is absent. */
  readonly download?: Download
}

/**
 * Reads the current build, the previous one, and the deltas between them.
 *
 * @returns `undefined` before the first publish.
 * @throws OperatorError `SD_GENERATION_MISSING` or `SD_STORE_INVALID` if a build cannot be read;
 * `SD_STORE_UNAVAILABLE`.
 */
export async function readLatest(
  store: StoreBackend,
  { signal }: Stoppable = {},
): Promise<LatestBuild | undefined> {
  const { history } = await readHead(store, { signal })
  const options = { history, signal }
  const [current, ...earlier] = history.history
  if (current === undefined) return undefined
  const before = earlier.find(({ id }) => id !== current.id)
  if (before === undefined) return { build: await readGeneration(store, current.id, options) }
  const [build, replaced, deltas] = await Promise.all([
    readGeneration(store, current.id, options),
    readGeneration(store, before.id, options),
    readDeltas(store, current.id, options),
  ])
  const had = generationBlobsOf(replaced).originals
  return { build, replaced, download: computeDownload(build, { had, replaced, deltas: deltas?.files }) }
}
