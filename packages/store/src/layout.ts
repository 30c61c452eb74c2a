import { type Manifest, OperatorError, s } from '@serve-dist/manifest'
import { parseJson } from './parse-json.ts'

/*
 * The objects of a store:
 *
 *   current.json             the history; the only object that ever changes
 *   generations/<id>.json    the manifest of one build; written once, after all of its blobs
 *   blobs/<sha256>           the bytes of files, variants and deltas; written once
 *   deltas/<id>.json         the deltas of one build's files (deltas/deltas-document.ts); written before its manifest
 */

/** The version of the layout that this package reads and writes. */
export const layoutVersion = 1

/** The key of the history. */
export const currentKey = 'current.json'

/** The prefix of the keys of manifests. */
export const generationsPrefix = 'generations/'

/** The prefix of the keys of blobs. */
export const blobsPrefix = 'blobs/'

/** Returns the key of the manifest of a build. */
export function generationKey(id: string): string {
  return `${generationsPrefix}${id}.json`
}

/** Returns the key of a blob. The digest is in lower-case hexadecimal. */
export function blobKey(sha256: string): string {
  return blobsPrefix + sha256
}

/** The builds that a store keeps. The first row is the current build. */
export interface History {
  readonly version: typeof layoutVersion
  /** The rows, newest first. A build that was published twice or rolled back to has several rows. */
  readonly history: readonly HistoryRow[]
  /**
   * The time until which a process may delete objects that no row names: ISO 8601, UTC. Other publishers wait until
   * then, because an object that they find could be deleted.
   */
  readonly deletesUntil?: string
}

/** A period in which one build was current. */
export interface HistoryRow {
  /** The number of the row. It increases and is never reused. */
  readonly number: number
  /** The id of the build. */
  readonly id: string
  /** The time of the publish by the store's clock: ISO 8601, UTC. It is never before that of an earlier row. */
  readonly published: string
  /** The time at which the next row replaced this one. Absent in the first row. */
  readonly superseded?: string
  /** The number of the row that a rollback restored. */
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

/** A blob that a manifest names. */
export interface NamedBlob {
  readonly sha256: string
  /** The number of bytes. */
  readonly size: number
}

/**
 * Returns the blobs of a build without duplicates. The environment module has no blob, because each server generates
 * it.
 */
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
 * Parses the history.
 *
 * @param place - the name of the store for messages.
 * @throws OperatorError (`SD_STORE_INVALID`) that lists all problems.
 */
export function parseHistory(json: string, place: string): History {
  const document = parseJson(json)
  const { version }: { readonly version?: unknown } = Object(document)
  if (version !== layoutVersion) {
    throw invalid(place, [
      `expected version ${layoutVersion} of the layout, found ${JSON.stringify(version) ?? 'none'}. Use the same release of serve-dist as the publisher.`,
    ])
  }
  return s.read(historySchema, document, '$', (problems) => invalid(place, problems))
}

/**
 * Returns the text of a history, one line per row.
 *
 * @param swap - a unique name of this write. Entity tags can be digests. Without the name, a history that was changed
 * and changed back would have its old tag, although blobs were deleted.
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
    heading: `${place}: ${currentKey} is invalid. Restore an earlier version of this object, or publish to a new store.`,
  })
}
