import { type Manifest, OperatorError, s } from '@serve-dist/manifest'
import { parseJson } from './parse-json.ts'

/*
 * The objects of a store:
 *
 *   current.json                     the history; the only object that ever changes
 *   generations/<id>.json.<suffix>   the manifest of one build; written after all of its blobs
 *   blobs/<sha256>                   the bytes of files, variants and deltas
 *   blobs/<sha256>.<suffix>          the same, if a deletion of the plain key may still run
 *   deltas/<id>.json.<suffix>        the deltas of one build's files; written before its manifest
 *   deletions/<uuid>.json            the keys that one deletion deletes; written before it begins
 *
 * The history has the suffixes. That of a document begins with the digest of its text.
 */

/** The version of the layout that this package writes. It also reads version 1, which had no suffixes. */
export const layoutVersion = 2

/** The key of the history. */
export const currentKey = 'current.json'

/** The prefix of the keys of manifests. */
export const generationsPrefix = 'generations/'

/** The prefix of the keys of blobs. */
export const blobsPrefix = 'blobs/'

/** Returns the plain key of the manifest of a build. */
export function generationKey(id: string): string {
  return `${generationsPrefix}${id}.json`
}

/** Returns the plain key of a blob. The digest is in lower-case hexadecimal. */
export function blobKey(sha256: string): string {
  return blobsPrefix + sha256
}

/** The prefix of the keys of deletions. */
export const deletionsPrefix = 'deletions/'

/** Returns the key of a deletion. */
export function deletionKey(uuid: string): string {
  return `${deletionsPrefix}${uuid}.json`
}

/** The suffixes of keys, by plain key. A key without an entry has no suffix. */
export type Suffixes = Readonly<Record<string, string>>

/** Returns the key at which a history has an object. */
export function keyIn({ suffixes }: Pick<History, 'suffixes'>, plainKey: string): string {
  const suffix = suffixes?.[plainKey]
  return suffix === undefined ? plainKey : `${plainKey}.${suffix}`
}

const suffixed = /^((?:blobs\/[0-9a-f]{64}|(?:generations|deltas)\/[0-9a-f]{16,64}\.json))(?:\.(.+))?$/

/** Splits a key into the plain key and the suffix. Returns `undefined` for other objects. */
export function splitKey(
  key: string,
): { readonly plainKey: string; readonly suffix: string | undefined } | undefined {
  const [, plainKey, suffix] = suffixed.exec(key) ?? []
  return plainKey === undefined ? undefined : { plainKey, suffix }
}

/** Returns the suffixes with those of these keys, which replace earlier ones of the same objects. */
export function withKeys(suffixes: Suffixes | undefined, keys: Iterable<string>): Suffixes {
  const all: Record<string, string> = { ...suffixes }
  for (const key of keys) {
    const { plainKey, suffix } = splitKey(key) ?? {}
    if (plainKey !== undefined && suffix !== undefined) all[plainKey] = suffix
  }
  return all
}

/** The builds that a store keeps. The first row is the current build. */
export interface History {
  readonly version: typeof layoutVersion
  /** The rows, newest first. A build that was published twice or rolled back to has several rows. */
  readonly history: readonly HistoryRow[]
  /** The suffixes of the objects that the rows refer to. */
  readonly suffixes?: Suffixes
  /**
   * The deletions that may still run. No row ever refers to one of their keys again, because a suspended process or a
   * slow server may carry out a request at any later time.
   */
  readonly deletions?: readonly string[]
}

/** A period in which one build was current. */
export interface HistoryRow {
  /** The number of the row. It increases and is never reused. */
  readonly number: number
  /** The id of the build. */
  readonly id: string
  /** The time of the publish or rollback by the store's clock: ISO 8601, UTC. It is never before that of an earlier row. */
  readonly published: string
  /** The time at which the next row replaced this one. Absent in the first row. */
  readonly superseded?: string
  /** The number of the row that a rollback restored. */
  readonly restores?: number
}

/** Far more than a site is ever published. Their arrays would not fit on the stack as arguments. */
const mostRows = 100_000

const historySchema = s.objectOf<History>({
  version: s.converted(s.oneOf([1, layoutVersion]), () => layoutVersion),
  history: s.listOf(
    s.objectOf<HistoryRow>({
      number: s.wholeNumber('a whole number'),
      id: s.buildId,
      published: s.date,
      superseded: s.optional(s.date),
      restores: s.optional(s.wholeNumber('a whole number')),
    }),
  ),
  suffixes: s.optional(s.recordOf(s.text('a suffix', /^[\w.-]+$/))),
  deletions: s.optional(s.listOf(s.text('a UUID', /^[\da-f-]{36}$/))),
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
 * @throws OperatorError (`SD_STORE_INVALID`) that lists all problems, or for the store of a later release.
 */
export function parseHistory(json: string, place: string): History {
  const document = parseJson(json)
  if (document === undefined) throw invalid(place, ['$: not JSON'])
  const { version, history }: { readonly version?: unknown; readonly history?: unknown } = Object(document)
  if (typeof version === 'number' && version > layoutVersion) {
    const problem = `${place}: a later release of serve-dist published here (version ${version} of the layout). Update this serve-dist to the release of the publisher.`
    throw new OperatorError('SD_STORE_INVALID', problem)
  }
  if (Array.isArray(history) && history.length > mostRows) {
    throw invalid(place, [`$.history: expected at most ${mostRows} rows, found ${history.length}`])
  }
  return s.read(historySchema, document, '$', (problems) => invalid(place, problems))
}

/**
 * Returns the text of a history, one line per row.
 *
 * @param swap - a unique name of this write. Entity tags can be digests. Without the name, a history that was changed
 * and changed back would have its old tag, although blobs were deleted.
 */
export function stringifyHistory(
  { version, suffixes = {}, deletions = [], history }: History,
  swap?: string,
): string {
  const rows = history.map((row) => `  ${JSON.stringify(row)}`)
  const head = Object.entries({
    swap,
    ...(deletions.length > 0 && { deletions }),
    ...(Object.keys(suffixes).length > 0 && { suffixes }),
  }).flatMap(([name, value]) => (value === undefined ? [] : `"${name}":${JSON.stringify(value)},`))
  return `{"version":${version},${head.join('')}"history":[\n${rows.join(',\n')}\n]}\n`
}

function invalid(place: string, problems: readonly string[]): OperatorError {
  return new OperatorError('SD_STORE_INVALID', problems, {
    heading: `${place}: ${currentKey} is invalid. Restore an earlier version of this object, or publish to a new store.`,
  })
}
