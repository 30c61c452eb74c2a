import { randomUUID } from 'node:crypto'
import type { ListedObject, StoreBackend, Stoppable } from './backend.ts'
import { blobKey, blobsPrefix, type History, keyIn, type NamedBlob, splitKey } from './layout.ts'
import { readDeletedKeys } from './read-documents.ts'

/** A listed blob or document. */
export interface ListedKey extends ListedObject {
  /** The digest of a blob, or the id of a build. */
  readonly name: string
  readonly plainKey: string
}

/** The blobs of a store, and those that a new build may refer to. */
export interface Inventory {
  readonly all: readonly ListedKey[]
  /** Those that no deletion threatens, by digest. */
  readonly available: ReadonlyMap<string, ListedKey>
  /** The keys that a deletion may delete at any later time. */
  readonly deleted: ReadonlySet<string>
  readonly history: History
}

const nameForm = /^\w+\/([0-9a-f]+)/

/** Lists the objects of one kind, including those of builds that are not in the history. */
export async function listObjects(
  store: StoreBackend,
  prefix: 'blobs/' | 'deltas/' | 'generations/',
  options?: Stoppable,
): Promise<readonly ListedKey[]> {
  const objects: ListedKey[] = []
  for await (const object of store.list(prefix, options)) {
    const { plainKey = '' } = splitKey(object.key) ?? {}
    const [, name] = nameForm.exec(plainKey) ?? []
    if (name !== undefined) objects.push({ ...object, name, plainKey })
  }
  return objects
}

/** Lists the blobs. They stay available as long as the history does not change. */
export async function listBlobs(
  store: StoreBackend,
  history: History,
  options?: Stoppable,
): Promise<Inventory> {
  const deleted = await readDeletedKeys(store, history, options)
  const all = await listObjects(store, blobsPrefix, options)
  return { all, available: selectAvailable(all, { history, deleted }), deleted, history }
}

/** Selects the objects that a new build may refer to: at the key that the history has, or at any key without it. */
export function selectAvailable<Listed extends Pick<ListedKey, 'key' | 'name' | 'plainKey'>>(
  all: readonly Listed[],
  { history, deleted }: Pick<Inventory, 'history' | 'deleted'>,
): ReadonlyMap<string, Listed> {
  const available = new Map<string, Listed>()
  for (const object of all) {
    const { key, name, plainKey } = object
    const isKnown = history.suffixes?.[plainKey] !== undefined
    if (deleted.has(key) || (isKnown && keyIn(history, plainKey) !== key)) continue
    if (!available.has(name) || key === plainKey) available.set(name, object)
  }
  return available
}

/** Returns the key for new content. A key with a deletion is never used again. */
export function keyToWrite(
  plainKey: string,
  { history, deleted }: Pick<Inventory, 'deleted'> & { readonly history: Pick<History, 'suffixes'> },
): string {
  const key = keyIn(history, plainKey)
  return deleted.has(key) ? `${key}.${randomUUID().slice(0, 8)}` : key
}

/** Returns the key at which a new build finds a blob, or `undefined` if the blob must be sent. */
export function availableKey(
  { available }: Pick<Inventory, 'available'>,
  blob: NamedBlob,
): string | undefined {
  const found = available.get(blob.sha256)
  return found?.size === blob.size ? found.key : undefined
}

/** Returns whether a blob is available with its size. The digest is not verified here. */
export function isListed(inventory: Pick<Inventory, 'available'>, blob: NamedBlob): boolean {
  return availableKey(inventory, blob) !== undefined
}

/** Returns the key to send a blob to. Truncated content is replaced at its key. */
export function keyToSend(inventory: Inventory, { sha256 }: NamedBlob): string {
  return inventory.available.get(sha256)?.key ?? keyToWrite(blobKey(sha256), inventory)
}
