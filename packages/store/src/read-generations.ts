import { type Manifest, OperatorError } from '@serve-dist/manifest'
import type { StoreBackend, Stoppable } from './backend.ts'
import { forEachAtOnce } from './for-each-at-once.ts'
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

/** Reads what generations name; those that cannot be read are told. */
export async function readGenerations(
  store: StoreBackend,
  ids: Iterable<string>,
  { concurrency, signal }: Stoppable & { readonly concurrency: number },
): Promise<ReadGenerations> {
  const generations = new Map<string, GenerationBlobs>()
  const missing = new Set<string>()
  const unreadable = new Map<string, OperatorError>()
  await forEachAtOnce(new Set(ids), concurrency, async (id) => {
    try {
      const manifest = await readGeneration(store, id, { signal })
      generations.set(id, generationBlobsOf(manifest))
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error
      if (error.code === 'SD_GENERATION_MISSING') missing.add(id)
      else if (error.code === 'SD_STORE_INVALID') unreadable.set(id, error)
      else throw error
    }
  })
  return { generations, missing, unreadable }
}

/** What a manifest names. */
export function generationBlobsOf(manifest: Manifest): GenerationBlobs {
  const files = manifest.files.filter(({ runtime }) => runtime !== true)
  return { blobs: blobsOf(manifest), originals: new Set(files.map(({ sha256 }) => sha256)) }
}
