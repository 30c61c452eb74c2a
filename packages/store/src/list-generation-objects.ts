import type { ListedObject, StoreBackend, Stoppable } from './backend.ts'
import { deltasPrefix } from './deltas/deltas-document.ts'
import { generationsPrefix } from './layout.ts'

/** Objects of builds, by the builds' ids. */
export type ObjectsOfBuilds = ReadonlyMap<string, ListedObject>

/** The generations that are there, whether the history names them or not. */
export async function listGenerationObjects(
  store: StoreBackend,
  options?: Stoppable,
): Promise<ObjectsOfBuilds> {
  return await listDocuments(store, generationsPrefix, options)
}

/** The documents of deltas that are there, whether their generations are or not. */
export async function listDeltasObjects(store: StoreBackend, options?: Stoppable): Promise<ObjectsOfBuilds> {
  return await listDocuments(store, deltasPrefix, options)
}

async function listDocuments(
  store: StoreBackend,
  prefix: string,
  options: Stoppable | undefined,
): Promise<ObjectsOfBuilds> {
  const objects = new Map<string, ListedObject>()
  for await (const object of store.list(prefix, options)) {
    const id = /^([0-9a-f]{16,64})\.json$/.exec(object.key.slice(prefix.length))?.[1]
    if (id !== undefined) objects.set(id, object)
  }
  return objects
}
