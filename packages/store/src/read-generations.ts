import { forEachAtOnce } from '@serve-dist/foundation/concurrency/for-each-at-once'
import { type Manifest, OperatorError } from '@serve-dist/manifest'
import type { StoreBackend, Stoppable } from './backend.ts'
import { blobsOf, type NamedBlob } from './layout.ts'
import { readGeneration } from './read-documents.ts'

/** What is known of a generation's bytes. */
export interface GenerationBlobs {
  readonly blobs: readonly NamedBlob[]
  /** The digests of its files, those of variants left out. */
  readonly originals: ReadonlySet<string>
}

/** Generations, as far as they could be read. */
export interface ReadGenerations {
  readonly generations: ReadonlyMap<string, GenerationBlobs>
  /** Of which the store has no manifest. */
  readonly missing: ReadonlySet<string>
  /** Why others could not be read, by their ids: nobody knows which blobs they name. */
  readonly unreadable: ReadonlyMap<string, OperatorError>
}

/** Each is in memory as a text meanwhile, and that of a large site is megabytes. */
const readsAtOnce = 4

/** Reads what generations name; those that cannot be read are told. */
export async function readGenerations(
  store: StoreBackend,
  ids: Iterable<string>,
  { signal }: Stoppable = {},
): Promise<ReadGenerations> {
  const generations = new Map<string, GenerationBlobs>()
  const known = new Map<string, NamedBlob>()
  const missing = new Set<string>()
  const unreadable = new Map<string, OperatorError>()
  await forEachAtOnce(new Set(ids), readsAtOnce, async (id) => {
    try {
      const manifest = await readGeneration(store, id, { signal })
      generations.set(id, withShared(generationBlobsOf(manifest), known))
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error
      if (error.code === 'SD_GENERATION_MISSING') missing.add(id)
      else if (error.code === 'SD_STORE_INVALID') unreadable.set(id, error)
      else throw error
    }
  })
  return { generations, missing, unreadable }
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
