import { OperatorError } from '@serve-dist/manifest'
import { forEachAtOnce } from '@serve-dist/foundation/concurrency/for-each-at-once'
import type { StoreBackend, Stoppable } from '../backend.ts'
import type { NamedBlob } from '../layout.ts'
import { listDeltasObjects, type ObjectsOfBuilds } from '../list-generation-objects.ts'
import { readDeltas } from '../read-documents.ts'
import { deltaBlobsOf } from './deltas-document.ts'

/** The deltas of builds, as far as their documents could be read. */
export interface DeltaBlobs {
  readonly blobs: ReadonlyMap<string, readonly NamedBlob[]>
  /** Why others could not be read, by their ids: nobody knows which blobs they name. */
  readonly unreadable: ReadonlyMap<string, OperatorError>
  /** All documents that are there, those of other builds too. */
  readonly documents: ObjectsOfBuilds
}

/** As generations are read. */
const readsAtOnce = 4

/** Reads which deltas builds have. */
export async function readDeltaBlobs(
  store: StoreBackend,
  ids: Iterable<string>,
  { signal }: Stoppable = {},
): Promise<DeltaBlobs> {
  const documents = await listDeltasObjects(store, { signal })
  const blobs = new Map<string, readonly NamedBlob[]>()
  const unreadable = new Map<string, OperatorError>()
  const listed = [...new Set(ids)].filter((id) => documents.has(id))
  await forEachAtOnce(listed, readsAtOnce, async (id) => {
    try {
      const document = await readDeltas(store, id, { signal })
      if (document !== undefined) blobs.set(id, deltaBlobsOf(document))
    } catch (error) {
      if (!(error instanceof OperatorError) || error.code !== 'SD_STORE_INVALID') throw error
      unreadable.set(id, error)
    }
  })
  return { blobs, unreadable, documents }
}
