import type { Download, Manifest } from '@serve-dist/manifest'
import type { Stoppable, StoreBackend } from './backend.ts'
import { readHead } from './history/swap-history.ts'
import { computeDownload } from './publish/compute-download.ts'
import { readDeltas, readGeneration } from './read-documents.ts'
import { generationBlobsOf } from './read-builds.ts'

/** The current build of a store, and what it is to browsers that have loaded the one before. */
export interface LatestBuild {
  readonly build: Manifest
  /** The build that was current before; absent where the store keeps no other. */
  readonly replaced?: Manifest
  /** Absent with it. */
  readonly download?: Download
}

/**
 * Reads the current build, the one that it replaced, and which deltas lead from that one to it.
 *
 * @returns `undefined` where nothing was published yet.
 * @throws OperatorError `SD_GENERATION_MISSING` or `SD_STORE_INVALID` where one of them cannot be read; `SD_STORE_UNAVAILABLE`.
 */
export async function readLatest(
  store: StoreBackend,
  { signal }: Stoppable = {},
): Promise<LatestBuild | undefined> {
  const { history } = (await readHead(store, { signal })).history
  const [current] = history
  if (current === undefined) return undefined
  const before = history.find(({ id }) => id !== current.id)
  if (before === undefined) return { build: await readGeneration(store, current.id, { signal }) }
  const [build, replaced, deltas] = await Promise.all([
    readGeneration(store, current.id, { signal }),
    readGeneration(store, before.id, { signal }),
    readDeltas(store, current.id, { signal }),
  ])
  const had = generationBlobsOf(replaced).originals
  return { build, replaced, download: computeDownload(build, { had, replaced, deltas: deltas?.files }) }
}
