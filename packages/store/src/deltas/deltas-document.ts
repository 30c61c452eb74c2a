import { DocumentReader, OperatorError } from '@serve-dist/manifest'
import type { NamedBlob } from '../layout.ts'
import { parseJson } from '../parse-json.ts'

/** The version of the format that this package reads and writes. */
const deltasVersion = 1

/** The prefix of the keys of documents of deltas. */
export const deltasPrefix = 'deltas/'

const digestForm = /^[0-9a-f]{64}$/

/** What a generation's files can be sent as to who has an earlier file (RFC 9842); the bytes are blobs, header included. */
export interface DeltasDocument {
  readonly version: typeof deltasVersion
  /** By the digest of the new file, then by that of the old one: the dictionary. */
  readonly files: ReadonlyMap<string, DeltasOfFile>
}

/** The deltas of one file, by the digests of their dictionaries. */
export type DeltasOfFile = ReadonlyMap<string, DeltaVariants>

/** One delta in its codings, one at least. */
export interface DeltaVariants {
  /** Dictionary-Compressed Zstandard (RFC 9842 §5). */
  readonly dcz?: NamedBlob
  /** Dictionary-Compressed Brotli (RFC 9842 §4). */
  readonly dcb?: NamedBlob
}

/** @param id - of the build. */
export function deltasKey(id: string): string {
  return `${deltasPrefix}${id}.json`
}

/** The blobs of deltas, each once. */
export function deltaBlobsOf({ files }: DeltasDocument): readonly NamedBlob[] {
  const blobs = new Map<string, NamedBlob>()
  for (const deltas of files.values()) {
    for (const { dcz, dcb } of deltas.values()) {
      for (const blob of [dcz, dcb]) if (blob !== undefined) blobs.set(blob.sha256, blob)
    }
  }
  return [...blobs.values()]
}

/**
 * @param place - of the document, for messages.
 * @throws OperatorError (`SD_STORE_INVALID`) that lists all that is wrong.
 */
export function parseDeltas(text: string, place: string): DeltasDocument {
  const problems: string[] = []
  const root = new DocumentReader('$', parseJson(text), problems)
  const version = root.field('version').value
  if (version !== deltasVersion) {
    problems.push(`expected version ${deltasVersion} of deltas, found ${JSON.stringify(version) ?? 'none'}`)
  }
  const files = problems.length > 0 ? new Map<string, never>() : readByDigest(root.field('files'), readFile)
  if (problems.length === 0) return { version: deltasVersion, files }
  const heading = `${place} cannot be read, so no delta of it can be found; publish the build again:`
  throw new OperatorError('SD_STORE_INVALID', problems, { heading })
}

/** The text of a document, a file a line; sorted, so that what is equal has equal bytes. */
export function stringifyDeltas({ version, files }: DeltasDocument): string {
  const lines = sortedEntries(files).map(([sha256, deltas]) => {
    const written = Object.fromEntries(sortedEntries(deltas))
    return `  ${JSON.stringify(sha256)}:${JSON.stringify(written)}`
  })
  return `{"version":${version},"files":{${lines.length === 0 ? '' : `\n${lines.join(',\n')}\n`}}}\n`
}

function sortedEntries<Value>(map: ReadonlyMap<string, Value>): (readonly [string, Value])[] {
  return [...map].toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function readByDigest<Value>(
  reader: DocumentReader,
  read: (value: DocumentReader) => Value,
): ReadonlyMap<string, Value> {
  const values = reader.record((value, digest) => {
    if (!digestForm.test(digest))
      value.problem('expected a SHA-256 in 64 lower-case hexadecimal digits as key')
    return read(value)
  })
  return new Map(Object.entries(values))
}

function readFile(file: DocumentReader): DeltasOfFile {
  return readByDigest(file, readVariants)
}

function readVariants(variants: DocumentReader): DeltaVariants {
  const [dcz, dcb] = [variants.field('dcz'), variants.field('dcb')]
  if (dcz.value === undefined && dcb.value === undefined) variants.expected('dcz, dcb or both')
  return {
    ...(dcz.value !== undefined && { dcz: readBlob(dcz) }),
    ...(dcb.value !== undefined && { dcb: readBlob(dcb) }),
  }
}

function readBlob(blob: DocumentReader): NamedBlob {
  return {
    sha256: blob.field('sha256').matching(digestForm, '64 lower-case hexadecimal digits'),
    size: blob.field('size').byteCount(),
  }
}
