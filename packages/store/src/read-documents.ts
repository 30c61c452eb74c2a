import { buffer } from 'node:stream/consumers'
import { type Manifest, OperatorError, parseManifest } from '@serve-dist/manifest'
import type { ReadOptions, StoreBackend, Stoppable } from './backend.ts'
import { type DeltasDocument, deltasKey, parseDeltas } from './deltas/deltas-document.ts'
import { shortId } from '@serve-dist/foundation/text/short-id'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { currentKey, deletionKey, generationKey, type History, keyIn, parseHistory } from './layout.ts'
import { parseJson } from './parse-json.ts'
import { withTimeLimit } from './with-time-limit.ts'

/** The time limit of a read including retries, in milliseconds. */
const longestRead = 60_000
/** The maximum size of a document in bytes. A manifest of 100,000 files has 50 MB. */
const largestDocument = 256 * 1024 * 1024

/** The content of `current.json`. */
export interface ReadHistory {
  readonly history: History
  /** The version for `replaces` and for the next read. */
  readonly version: string
  /** The store's time of the response, in milliseconds since the epoch. */
  readonly time: number
}

/**
 * Reads the history of a store.
 *
 * @param unless - the version that the caller has.
 * @returns `undefined` before the first publish, or if the credentials permit neither reading nor listing.
 */
export async function readHistory(
  store: StoreBackend,
  unless?: string,
  { signal }: Stoppable = {},
): Promise<ReadHistory | 'unchanged' | undefined> {
  const read = await readDocument(store, currentKey, { signal, ...(unless !== undefined && { unless }) })
  if (read === undefined || read === 'unchanged') return read
  const { text, version, time } = read
  return { history: parseHistory(text, store.place), version, time }
}

/** Options to read the document of a build. */
export interface DocumentOptions extends Stoppable {
  /** The history that refers to the document. By default, the current one is read. */
  readonly history?: Pick<History, 'suffixes'> | undefined
}

/**
 * Reads the manifest of a build.
 *
 * @throws OperatorError `SD_GENERATION_MISSING` if the store does not have the build, `SD_STORE_INVALID` if the
 * manifest is invalid.
 */
export async function readGeneration(
  store: StoreBackend,
  id: string,
  options: DocumentOptions = {},
): Promise<Manifest> {
  const read = await readVerified(store, generationKey(id), options)
  if (read === undefined) {
    throw new OperatorError(
      'SD_GENERATION_MISSING',
      `${store.place}: the manifest of build ${shortId(id)} is missing. Publish the build again, or choose one that serve-dist generations lists.`,
    )
  }
  const { key, text } = read
  const manifest = parse(text, `${store.place}: ${key}`)
  if (manifest.buildId !== id) {
    const problem = `${store.place}: ${key} contains the manifest of another build, ${manifest.buildId}. Publish the build again.`
    throw new OperatorError('SD_STORE_INVALID', problem)
  }
  return manifest
}

/**
 * Reads the delta document of a build.
 *
 * @returns `undefined` without such a document. The server must then not mark any file of the build as a dictionary.
 * @throws OperatorError `SD_STORE_INVALID` if the document is invalid.
 */
export async function readDeltas(
  store: StoreBackend,
  id: string,
  options: DocumentOptions = {},
): Promise<DeltasDocument | undefined> {
  const read = await readVerified(store, deltasKey(id), options)
  return read && parseDeltas(read.text, `${store.place}: ${read.key}`)
}

/** Reads the document of a build at the key that a history has, and compares it with the digest in this key. */
async function readVerified(
  store: StoreBackend,
  plainKey: string,
  { history, signal }: DocumentOptions,
): Promise<{ readonly key: string; readonly text: string } | undefined> {
  const refersTo = history ?? (await readCurrent(store, { signal })) ?? {}
  const key = keyIn(refersTo, plainKey)
  const read = await readDocument(store, key, { signal })
  if (read === undefined || read === 'unchanged') return undefined
  const digest = refersTo.suffixes?.[plainKey]?.slice(0, 64)
  if (digest === undefined || sha256Of(read.text) === digest) return { key, text: read.text }
  const problem = `${store.place}: ${key} was damaged: it does not match its digest. Publish the build again.`
  throw new OperatorError('SD_STORE_INVALID', problem)
}

async function readCurrent(store: StoreBackend, options: Stoppable): Promise<History | undefined> {
  const read = await readHistory(store, undefined, options)
  return typeof read === 'object' ? read.history : undefined
}

/**
 * Reads the keys that the deletions of a history may delete at any later time.
 *
 * @throws OperatorError `SD_STORE_INVALID` if the history has a deletion whose document is missing or invalid.
 */
export async function readDeletedKeys(
  store: StoreBackend,
  { deletions = [] }: History,
  options: Stoppable = {},
): Promise<ReadonlySet<string>> {
  const deleted = new Set<string>()
  for (const uuid of deletions) {
    const key = deletionKey(uuid)
    const read = await readDocument(store, key, options)
    const keys = typeof read === 'object' ? parseJson(read.text) : undefined
    if (Array.isArray(keys)) for (const each of keys) deleted.add(String(each))
    // The deletion may have ended in the meantime. Then the history has changed, and no swap of this one succeeds.
    else if ((await readCurrent(store, options))?.deletions?.includes(uuid) === true) {
      const problem = `${store.place}: ${key} is missing or invalid, so objects that are about to be deleted are unknown. Publish to a new store.`
      throw new OperatorError('SD_STORE_INVALID', problem)
    }
  }
  return deleted
}

/** Resolves to `undefined` if a build or document is missing or invalid. */
export async function undefinedIfUnreadable<Read>(reading: Promise<Read>): Promise<Read | undefined> {
  try {
    return await reading
  } catch (error) {
    if (isDocumentError(error)) return undefined
    throw error
  }
}

/** Returns whether an error concerns one build, and not the whole store. */
export function isDocumentError(error: unknown): error is OperatorError {
  return error instanceof OperatorError && /^SD_(?:STORE_INVALID|GENERATION_MISSING)$/.test(error.code)
}

/** A small object as text. */
export interface Document {
  readonly text: string
  readonly version: string
  readonly time: number
}

/** Reads a document within one minute. */
export async function readDocument(
  store: StoreBackend,
  key: string,
  { signal: given, ...options }: ReadOptions = {},
): Promise<Document | 'unchanged' | undefined> {
  const step = { place: store.place, verb: 'read', key } as const
  return await withTimeLimit(step, { milliseconds: longestRead, signal: given }, async (signal) => {
    const object = await store.read(key, { ...options, signal })
    if (object === undefined || object === 'unchanged') return object
    const { body, size, version, time } = object
    if (size > largestDocument) {
      body.destroy()
      throw new OperatorError(
        'SD_STORE_INVALID',
        `${store.place}: ${key} has ${size} bytes, more than a document can have. Publish the build again.`,
      )
    }
    return { text: (await buffer(body)).toString(), version, time }
  })
}

function parse(text: string, place: string): Manifest {
  try {
    return parseManifest(text)
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    const heading = `${place}: the manifest is invalid. Publish the build again.`
    throw new OperatorError('SD_STORE_INVALID', error.problems, { heading, cause: error })
  }
}
