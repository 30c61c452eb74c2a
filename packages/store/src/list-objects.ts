import type { ListedObject, StoreBackend, Stoppable } from './backend.ts'
import { blobsPrefix, type NamedBlob } from './layout.ts'

/** Objects by the name in their keys: the digest of a blob or the id of a build. */
export type ListedObjects = ReadonlyMap<string, ListedObject>

const blobForm = /^([0-9a-f]{64})$/
const documentForm = /^([0-9a-f]{16,64})\.json$/

/** Lists the objects of one kind, including those of builds that are not in the history. */
export async function listObjects(
  store: StoreBackend,
  prefix: 'blobs/' | 'deltas/' | 'generations/',
  options?: Stoppable,
): Promise<ListedObjects> {
  const form = prefix === blobsPrefix ? blobForm : documentForm
  const objects = new Map<string, ListedObject>()
  for await (const object of store.list(prefix, options)) {
    const name = form.exec(object.key.slice(prefix.length))?.[1]
    if (name !== undefined) objects.set(name, object)
  }
  return objects
}

/** Returns whether a blob is listed with its size. The digest is not verified here. */
export function isListed(blobs: ListedObjects, { sha256, size }: NamedBlob): boolean {
  return blobs.get(sha256)?.size === size
}
