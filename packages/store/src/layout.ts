import { type Manifest, OperatorError, s } from '@serve-dist/manifest'
import { parseJson } from './parse-json.ts'

/*
 * The objects of a store:
 *
 *   current.json             the history; the only object that ever changes
 *   generations/<id>.json    the manifest of one build; written once, after all of its blobs
 *   blobs/<sha256>           the bytes of files, of their variants and of deltas; written once
 *   deltas/<id>.json         which deltas the files of one build have (deltas/deltas-document.ts); written before its generation
 */

/** The version of the layout that this package reads and writes. */
export const layoutVersion = 1

/** The key of the history. */
export const currentKey = 'current.json'

/** The prefix of the keys of generations. */
export const generationsPrefix = 'generations/'

/** The prefix of the keys of blobs. */
export const blobsPrefix = 'blobs/'

/** @param id - of the build. */
export function generationKey(id: string): string {
  return `${generationsPrefix}${id}.json`
}

/** @param sha256 - of the bytes, lower-case hexadecimal. */
export function blobKey(sha256: string): string {
  return blobsPrefix + sha256
}

/** Which builds a store keeps, and which of them is current: the first. */
export interface History {
  readonly version: typeof layoutVersion
  /** Newest first. A build that was published twice, or rolled back to, has several rows. */
  readonly history: readonly HistoryRow[]
  /**
   * Until when, at the latest, somebody deletes objects that no row names: ISO 8601, UTC. Who publishes meanwhile waits,
   * for what it finds there may be about to go.
   */
  readonly deletesUntil?: string
}

/** One build's time as the current one. */
export interface HistoryRow {
  /** Counts up; no number comes twice. */
  readonly number: number
  /** The build's id. */
  readonly id: string
  /** ISO 8601, UTC, by the store's clock; never before that of an earlier row. */
  readonly published: string
  /** When the next row took its place; absent in the first row alone. */
  readonly superseded?: string
  /** Of a rollback: the number of the row that it made current again. */
  readonly restores?: number
}

const historySchema = s.objectOf<History>({
  version: s.oneOf([layoutVersion]),
  history: s.listOf(
    s.objectOf<HistoryRow>({
      number: s.wholeNumber('a whole number'),
      id: s.buildId,
      published: s.date,
      superseded: s.optional(s.date),
      restores: s.optional(s.wholeNumber('a whole number')),
    }),
  ),
  deletesUntil: s.optional(s.date),
})

/** A blob that a generation names. */
export interface NamedBlob {
  readonly sha256: string
  /** In bytes. */
  readonly size: number
}

/** The blobs of a build, each once. The module of an environment is none: whoever serves it makes it. */
export function blobsOf({ files }: Manifest): readonly NamedBlob[] {
  const blobs = new Map<string, NamedBlob>()
  for (const { runtime, sha256, size, variants } of files) {
    if (runtime === true) continue
    for (const blob of [{ sha256, size }, ...variants]) {
      blobs.set(blob.sha256, { sha256: blob.sha256, size: blob.size })
    }
  }
  return [...blobs.values()]
}

/**
 * @param place - of the store, for messages.
 * @throws OperatorError (`SD_STORE_INVALID`) that lists all that is wrong.
 */
export function parseHistory(json: string, place: string): History {
  const document = parseJson(json)
  const { version }: { readonly version?: unknown } = Object(document)
  if (version !== layoutVersion) {
    throw invalid(place, [
      `expected version ${layoutVersion} of the layout, found ${JSON.stringify(version) ?? 'none'}; use the release of serve-dist that publishes`,
    ])
  }
  return s.read(historySchema, document, '$', (problems) => invalid(place, problems))
}

/**
 * The text of a history, a row a line.
 *
 * @param swap - names this write alone. A bucket's entity tags may be digests: without it, a history that was changed and
 * changed back would pass for one that nobody has touched, though blobs were deleted meanwhile.
 */
export function stringifyHistory({ version, deletesUntil, history }: History, swap?: string): string {
  const rows = history.map((row) => `  ${JSON.stringify(row)}`)
  const head = Object.entries({ swap, deletesUntil }).flatMap(([name, value]) =>
    value === undefined ? [] : `"${name}":${JSON.stringify(value)},`,
  )
  return `{"version":${version},${head.join('')}"history":[\n${rows.join(',\n')}\n]}\n`
}

function invalid(place: string, problems: readonly string[]): OperatorError {
  return new OperatorError('SD_STORE_INVALID', problems, {
    heading: `${place}: ${currentKey} cannot be read, so no build of it can be found`,
  })
}
