import { type Manifest, OperatorError } from '@serve-dist/manifest'
import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import type { StoreBackend, Stoppable } from './backend.ts'
import { deltaBlobsOf, deltasPrefix } from './deltas/deltas-document.ts'
import { blobsOf, type NamedBlob } from './layout.ts'
import { type ListedObjects, listObjects } from './list-objects.ts'
import { readDeltas, readGeneration } from './read-documents.ts'

/** What is known of a generation's bytes. */
export interface GenerationBlobs {
  readonly blobs: readonly NamedBlob[]
  /** The digests of its files, those of variants left out. */
  readonly originals: ReadonlySet<string>
}

/** Builds, as far as their documents could be read. */
export interface ReadBuilds {
  readonly generations: ReadonlyMap<string, GenerationBlobs>
  /** The blobs of files, variants and deltas, by the build. */
  readonly blobs: ReadonlyMap<string, readonly NamedBlob[]>
  /** The builds of which the store has no manifest. */
  readonly missing: ReadonlySet<string>
  /** Why manifests could not be read, by the build: the blobs that they name are unknown. */
  readonly unreadable: ReadonlyMap<string, OperatorError>
  /** The same for documents of deltas. */
  readonly unreadableDeltas: ReadonlyMap<string, OperatorError>
  /** All documents of deltas in the store, those of other builds too. */
  readonly deltasObjects: ListedObjects
}

/** Each is in memory as a text meanwhile, and that of a large site is megabytes. */
const readsAtOnce = 4

/**
 * Reads the manifests and deltas of builds.
 *
 * @param known - generations that need not be read.
 */
export async function readBuilds(
  store: StoreBackend,
  ids: Iterable<string>,
  {
    known = new Map(),
    signal,
  }: Stoppable & { readonly known?: ReadonlyMap<string, GenerationBlobs> | undefined } = {},
): Promise<ReadBuilds> {
  const deltasObjects = await listObjects(store, deltasPrefix, { signal })
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
        const manifest = await readGeneration(store, id, { signal })
        generations.set(id, withShared(generationBlobsOf(manifest), shared))
      }
    } catch (error) {
      noteFault(error, id, unreadable)
    }
    try {
      const deltas = deltasObjects.has(id) ? await readDeltas(store, id, { signal }) : undefined
      const ofDeltas = deltas === undefined ? [] : deltaBlobsOf(deltas)
      blobs.set(id, [...(generations.get(id)?.blobs ?? []), ...ofDeltas])
    } catch (error) {
      noteFault(error, id, unreadableDeltas)
      blobs.set(id, generations.get(id)?.blobs ?? [])
    }
  })
  return { generations, blobs, missing, unreadable, unreadableDeltas, deltasObjects }
}

/** Builds have most of their blobs in common: each is held once, however many builds are read. */
function withShared(
  { blobs: own, originals }: GenerationBlobs,
  known: Map<string, NamedBlob>,
): GenerationBlobs {
  const blobs = own.map((blob) => {
    const same = known.get(blob.sha256)
    if (same?.size === blob.size) return same
    known.set(blob.sha256, blob)
    return blob
  })
  const digests = blobs.map(({ sha256 }) => sha256).filter((sha256) => originals.has(sha256))
  return { blobs, originals: new Set(digests) }
}

/** What a manifest names. */
export function generationBlobsOf(manifest: Manifest): GenerationBlobs {
  const files = manifest.files.filter(({ runtime }) => runtime !== true)
  return { blobs: blobsOf(manifest), originals: new Set(files.map(({ sha256 }) => sha256)) }
}
