import { buffer } from 'node:stream/consumers'
import { type Manifest, OperatorError, parseManifest } from '@serve-dist/manifest'
import type { ReadOptions, StoreBackend, Stoppable } from './backend.ts'
import { type DeltasDocument, deltasKey, parseDeltas } from './deltas/deltas-document.ts'
import { currentKey, generationKey, type History, parseHistory } from './layout.ts'
import { withTimeLimit } from './with-time-limit.ts'

/** Milliseconds for a document, tries included: one is small, and what takes longer hangs. */
const longestRead = 60_000
/** Bytes of a document: a manifest of 100,000 files has 50 MB. */
const largestDocument = 256 * 1024 * 1024

/** What `current.json` says. */
export interface ReadHistory {
  readonly history: History
  /** For `replaces`, and to be asked for less next time. */
  readonly version: string
  /** The store's own time of the answer, in milliseconds since the epoch. */
  readonly time: number
}

/**
 * Reads which builds the store keeps.
 *
 * @param unless - the version that the caller has.
 * @returns `undefined` where nothing was published yet, or where the credentials may neither read nor list.
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
 * @throws OperatorError `SD_GENERATION_MISSING` where the store does not have it, `SD_STORE_INVALID` where it is none.
 */
export async function readGeneration(
  store: StoreBackend,
  id: string,
  { signal }: Stoppable = {},
): Promise<Manifest> {
  const key = generationKey(id)
  const read = await readDocument(store, key, { signal })
  if (read === undefined || read === 'unchanged') {
    throw new OperatorError('SD_GENERATION_MISSING', `${store.place}: has no build ${id}`)
  }
  const manifest = parse(read.text, `${store.place}: ${key}`)
  if (manifest.buildId !== id) {
    const problem = `${store.place}: ${key} is the manifest of another build, ${manifest.buildId}; publish the build again`
    throw new OperatorError('SD_STORE_INVALID', problem)
  }
  return manifest
}

/**
 * Reads which deltas the files of a build have.
 *
 * @returns `undefined` where nobody made any: then no file of it is to be marked as a dictionary.
 * @throws OperatorError `SD_STORE_INVALID` where it cannot be read.
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

/** Returns whether an error is about one build, and not about the store. */
export function isDocumentError(error: unknown): error is OperatorError {
  return error instanceof OperatorError && /^SD_(?:STORE_INVALID|GENERATION_MISSING)$/.test(error.code)
}

/** A small object, as text. */
export interface Document {
  readonly text: string
  readonly version: string
  readonly time: number
}

/** Reads a document, within a minute. */
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
        `${store.place}: ${key} has ${size} bytes: it is no document`,
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
    const heading = `${place} is no manifest of a build; publish the build again:`
    throw new OperatorError('SD_STORE_INVALID', error.problems, { heading, cause: error })
  }
}
