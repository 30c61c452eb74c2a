import { type Manifest, OperatorError, servedFiles } from '@serve-dist/manifest'
import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import type { StoreBackend, Stoppable } from './backend.ts'
import { deltaBlobsOf, deltasKey, deltasPrefix } from './deltas/deltas-document.ts'
import { blobsOf, type History, keyIn, type NamedBlob } from './layout.ts'
import { type ListedKey, listObjects } from './list-objects.ts'
import { readDeltas, readGeneration } from './read-documents.ts'

/** The blobs of a build. */
export interface GenerationBlobs {
  /** The number of files that a server sends. */
  readonly files: number
  readonly blobs: readonly NamedBlob[]
  /** The digests of its files, without variants. */
  readonly originals: ReadonlySet<string>
}

/** Builds with readable documents. */
export interface ReadBuilds {
  readonly generations: ReadonlyMap<string, GenerationBlobs>
  /** The blobs of files, variants and deltas, by build. */
  readonly blobs: ReadonlyMap<string, readonly NamedBlob[]>
  /** The builds without a manifest in the store. */
  readonly missing: ReadonlySet<string>
  /** The reasons why manifests cannot be read, by build. The blobs of these builds are unknown. */
  readonly unreadable: ReadonlyMap<string, OperatorError>
  /** The reasons why delta documents cannot be read, by build. */
  readonly unreadableDeltas: ReadonlyMap<string, OperatorError>
  /** All delta documents in the store, including those of other builds. */
  readonly deltasObjects: readonly ListedKey[]
}

/** The number of concurrent reads. The manifest of a large site takes megabytes of memory. */
const readsAtOnce = 4

/**
 * Reads the manifests and delta documents of builds.
 *
 * @param history - has the keys of the documents.
 * @param known - builds that need not be read.
 */
export async function readBuilds(
  store: StoreBackend,
  ids: Iterable<string>,
  {
    history,
    known = new Map(),
    signal,
  }: Stoppable & {
    readonly history: Pick<History, 'suffixes'>
    readonly known?: ReadonlyMap<string, GenerationBlobs> | undefined
  },
): Promise<ReadBuilds> {
  const deltasObjects = await listObjects(store, deltasPrefix, { signal })
  const deltasKeys = new Set(deltasObjects.map(({ key }) => key))
  const generations = new Map(known)
  const blobs = new Map<string, readonly NamedBlob[]>()
  const shared = new Map<string, NamedBlob>()
  const missing = new Set<string>()
  const unreadable = new Map<string, OperatorError>()
  const unreadableDeltas = new Map<string, OperatorError>()
  const noteFault = (error: unknown, id: string, faults: Map<string, OperatorError>): void => {
    if (!(error instanceof OperatorError)) throw error
    if (error.code === 'SD_GENERATION_MISSING') missing.add(id)
    else if (error.code === 'SD_STORE_INVALID') faults.set(id, error)
    else throw error
  }
  await forEachConcurrently(new Set(ids), readsAtOnce, async (id) => {
    try {
      if (!known.has(id)) {
        const manifest = await readGeneration(store, id, { history, signal })
        generations.set(id, withShared(generationBlobsOf(manifest), shared))
      }
    } catch (error) {
      noteFault(error, id, unreadable)
    }
    try {
      const isThere = deltasKeys.has(keyIn(history, deltasKey(id)))
      const deltas = isThere ? await readDeltas(store, id, { history, signal }) : undefined
      const ofDeltas = deltas === undefined ? [] : deltaBlobsOf(deltas)
      blobs.set(id, [...(generations.get(id)?.blobs ?? []), ...ofDeltas])
    } catch (error) {
      noteFault(error, id, unreadableDeltas)
      blobs.set(id, generations.get(id)?.blobs ?? [])
    }
  })
  return { generations, blobs, missing, unreadable, unreadableDeltas, deltasObjects }
}

/** Shares equal blobs between builds to save memory. */
function withShared(
  { blobs: own, originals, files }: GenerationBlobs,
  known: Map<string, NamedBlob>,
): GenerationBlobs {
  const blobs = own.map((blob) => {
    const same = known.get(blob.sha256)
    if (same?.size === blob.size) return same
    known.set(blob.sha256, blob)
    return blob
  })
  const digests = blobs.map(({ sha256 }) => sha256).filter((sha256) => originals.has(sha256))
  return { blobs, originals: new Set(digests), files }
}

/** Returns the blobs that a manifest names. */
export function generationBlobsOf(manifest: Manifest): GenerationBlobs {
  const files = manifest.files.filter(({ runtime }) => runtime !== true)
  return {
    files: servedFiles(manifest).length,
    blobs: blobsOf(manifest),
    originals: new Set(files.map(({ sha256 }) => sha256)),
  }
}
