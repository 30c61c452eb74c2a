import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type Manifest, manifestPath, parseManifest, variantPath } from '@serve-dist/manifest'
import type { ReadOptions, StoreBackend, StoredObject } from '../../src/backend.ts'
import { deltaBlobsOf, deltasKey, parseDeltas } from '../../src/deltas/deltas-document.ts'
import {
  blobKey,
  blobsOf,
  generationKey,
  generationsPrefix,
  type History,
  type HistoryRow,
  type NamedBlob,
  parseHistory,
  currentKey,
  deletionKey,
  keyIn,
  layoutVersion,
} from '../../src/layout.ts'

/** Returns an object, or throws if it is missing. */
export async function objectAt(
  store: StoreBackend,
  key: string,
  options?: ReadOptions,
): Promise<StoredObject> {
  const object = await store.read(key, options)
  if (typeof object !== 'object') throw new Error(`${key}: ${object ?? 'is missing'}`)
  return object
}

async function bytesAt(store: StoreBackend, key: string): Promise<Uint8Array | undefined> {
  const object = await store.read(key)
  return typeof object === 'object' ? await buffer(object.body) : undefined
}

/** Returns the text of an object, if it exists. */
export async function textAt(store: StoreBackend, key: string): Promise<string | undefined> {
  const bytes = await bytesAt(store, key)
  return bytes && new TextDecoder().decode(bytes)
}

/** Returns the history, which is empty before the first publish. */
export async function historyOf(store: StoreBackend): Promise<History> {
  const text = await textAt(store, currentKey)
  return text === undefined ? { version: layoutVersion, history: [] } : parseHistory(text, store.place)
}

/** Returns the key at which the store has an object. */
export async function keyOf(store: StoreBackend, plainKey: string): Promise<string> {
  return keyIn(await historyOf(store), plainKey)
}

/** Returns the rows of the history, newest first. */
export async function rowsOf(store: StoreBackend): Promise<readonly HistoryRow[]> {
  return (await historyOf(store)).history
}

async function manifestIn(store: StoreBackend, id: string): Promise<Manifest | undefined> {
  const text = await textAt(store, await keyOf(store, generationKey(id)))
  return text === undefined ? undefined : parseManifest(text)
}

/**
 * Returns the faults of a store: builds without a manifest, and blobs that are missing or do not match their digests.
 */
export async function faultsOf(store: StoreBackend): Promise<readonly string[]> {
  const history = await historyOf(store)
  const ids = new Set(history.history.map(({ id }) => id))
  const faults = await Promise.all([...ids].map(async (id) => await faultsOfGeneration(store, history, id)))
  return faults.flat()
}

async function faultsOfGeneration(
  store: StoreBackend,
  history: History,
  id: string,
): Promise<readonly string[]> {
  const manifest = await manifestIn(store, id)
  if (manifest === undefined) return [`${id} has no manifest`]
  const faultOf = async ({ sha256, size }: NamedBlob): Promise<readonly string[]> => {
    const bytes = await bytesAt(store, keyIn(history, blobKey(sha256)))
    if (bytes === undefined) return [`${id} names ${sha256}, which is missing`]
    const isSame = bytes.length === size && digestOf(bytes) === sha256
    return isSame ? [] : [`${sha256} does not match its digest`]
  }
  const named = [...blobsOf(manifest), ...(await deltasOf(store, id))]
  return (await Promise.all(named.map(faultOf))).flat()
}

/** Returns the blobs of the deltas of a build. */
export async function deltasOf(store: StoreBackend, id: string): Promise<readonly NamedBlob[]> {
  const text = await textAt(store, await keyOf(store, deltasKey(id)))
  return text === undefined ? [] : deltaBlobsOf(parseDeltas(text, store.place))
}

/** Returns the files of a stored build that differ from its folder, including pages and source maps. */
export async function differences(
  store: StoreBackend,
  { id, directory }: { readonly id: string; readonly directory: string },
): Promise<readonly string[]> {
  const manifest = await manifestIn(store, id)
  if (manifest === undefined) return [`${id} has no manifest`]
  const history = await historyOf(store)
  const files: { readonly name: string; readonly sha256: string }[] = []
  for (const { path, sha256, variants } of manifest.files) {
    files.push({ name: path, sha256 })
    for (const variant of variants)
      files.push({ name: variantPath(path, variant.coding), sha256: variant.sha256 })
  }
  const differ = async ({ name, sha256 }: (typeof files)[number]): Promise<readonly string[]> => {
    const [bytes, expected] = await Promise.all([
      bytesAt(store, keyIn(history, blobKey(sha256))),
      readFile(join(directory, name)),
    ])
    return bytes !== undefined && expected.equals(bytes) ? [] : [name]
  }
  return (await Promise.all(files.map(differ))).flat()
}

/** Reads the manifest of a build's folder. */
export async function manifestOf(directory: string): Promise<Manifest> {
  return parseManifest(await readFile(join(directory, manifestPath), 'utf8'))
}

/** Returns the ids of the stored manifests. */
export async function generationsIn(store: StoreBackend): Promise<readonly string[]> {
  const keys = await keysIn(store, generationsPrefix)
  return keys.map((key) => key.slice(generationsPrefix.length).replace(/\.json.*/, ''))
}

/** Returns the sorted keys with a prefix. */
export async function keysIn(store: StoreBackend, prefix: string): Promise<readonly string[]> {
  const keys: string[] = []
  for await (const { key } of store.list(prefix)) keys.push(key)
  return keys.toSorted()
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Returns the keys of objects that the history does not refer to. */
export async function unnamedIn(store: StoreBackend): Promise<readonly string[]> {
  const history = await historyOf(store)
  const named = new Set<string>([currentKey, ...(history.deletions ?? []).map(deletionKey)])
  for (const { id } of history.history) {
    const manifest = await manifestIn(store, id)
    if (manifest === undefined) continue
    const blobs = [...(await deltasOf(store, id)), ...blobsOf(manifest)]
    const plainKeys = [generationKey(id), deltasKey(id), ...blobs.map(({ sha256 }) => blobKey(sha256))]
    for (const plainKey of plainKeys) named.add(keyIn(history, plainKey))
  }
  return (await keysIn(store, '')).filter((key) => !named.has(key))
}
