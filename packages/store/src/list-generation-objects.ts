import type { ListedObject, StoreBackend, Stoppable } from './backend.ts'
import { generationsPrefix } from './layout.ts'

/** The generations that are there, whether the history names them or not, by their ids. */
export async function listGenerationObjects(
  store: StoreBackend,
  options?: Stoppable,
): Promise<ReadonlyMap<string, ListedObject>> {
  const objects = new Map<string, ListedObject>()
  for await (const object of store.list(generationsPrefix, options)) {
    const id = /^([0-9a-f]{16,64})\.json$/.exec(object.key.slice(generationsPrefix.length))?.[1]
    if (id !== undefined) objects.set(id, object)
  }
  return objects
}
