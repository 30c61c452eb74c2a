import { buffer } from 'node:stream/consumers'
import { type Manifest, OperatorError, parseManifest } from '@serve-dist/manifest'
import type { ReadOptions, StoreBackend, Stoppable } from './backend.ts'
import { type DeltasDocument, deltasKey, parseDeltas } from './deltas/deltas-document.ts'
import { currentKey, generationKey, type History, parseHistory } from './layout.ts'
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

/**
 * Reads the manifest of a build.
 *
 * @throws OperatorError `SD_GENERATION_MISSING` if the store does not have the build, `SD_STORE_INVALID` if the
 * manifest is invalid.
 */
export async function readGeneration(
  store: StoreBackend,
  id: string,
  { signal }: Stoppable = {},
): Promise<Manifest> {
  const key = generationKey(id)
  const read = await readDocument(store, key, { signal })
  if (read === undefined || read === 'unchanged') {
    throw new OperatorError(
      'SD_GENERATION_MISSING',
      `${store.place}: there is no build ${id}. Run serve-dist generations to list the builds.`,
    )
  }
  const manifest = parse(read.text, `${store.place}: ${key}`)
  if (manifest.buildId !== id) {
    const problem = `${store.place}: ${key} contains the manifest of another build, ${manifest.buildId}. Publish the build again.`
    throw new OperatorError('SD_STORE_INVALID', problem)
  }
  return manifest
}

/**
 * Reads the delta document of a build.
 *
 * @returns `undefined` if the build has none. The server must then not mark any of its files as a dictionary.
 * @throws OperatorError `SD_STORE_INVALID` if the document is invalid.
 */
export async function readDeltas(
  store: StoreBackend,
  id: string,
  { signal }: Stoppable = {},
): Promise<DeltasDocument | undefined> {
  const key = deltasKey(id)
  const read = await readDocument(store, key, { signal })
  if (read === undefined || read === 'unchanged') return undefined
  return parseDeltas(read.text, `${store.place}: ${key}`)
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
