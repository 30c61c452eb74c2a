import type { ListedObject, StoreBackend, Stoppable } from './backend.ts'
import { blobsPrefix, type NamedBlob } from './layout.ts'

/** The blobs that are there, by their digests. */
export type ListedBlobs = ReadonlyMap<string, ListedObject>

/** Lists all blobs. */
export async function listBlobs(store: StoreBackend, options?: Stoppable): Promise<ListedBlobs> {
  const blobs = new Map<string, ListedObject>()
  for await (const object of store.list(blobsPrefix, options)) {
    const sha256 = object.key.slice(blobsPrefix.length)
    if (/^[0-9a-f]{64}$/.test(sha256)) blobs.set(sha256, object)
  }
  return blobs
}

/** Whether a blob is there with its size; its digest nobody knows who has not read it. */
export function isListed(blobs: ListedBlobs, { sha256, size }: NamedBlob): boolean {
  return blobs.get(sha256)?.size === size
}
