import { OperatorError, s, type Schema } from '@serve-dist/manifest'
import type { NamedBlob } from '../layout.ts'
import { parseJson } from '../parse-json.ts'

/** The version of the format that this package reads and writes. */
const deltasVersion = 1

/** The prefix of the keys of delta documents. */
export const deltasPrefix = 'deltas/'

/** The deltas of a build's files (RFC 9842). The encoded bytes, including the header, are stored as blobs. */
export interface DeltasDocument {
  readonly version: typeof deltasVersion
  /** The deltas by the digest of the new file, then by the digest of the dictionary. */
  readonly files: ReadonlyMap<string, DeltasOfFile>
}

/** The deltas of one file, by the digests of their dictionaries. */
export type DeltasOfFile = ReadonlyMap<string, DeltaVariants>

/** The encoded forms of one delta: at least one. */
export interface DeltaVariants {
  /** Dictionary-Compressed Zstandard (RFC 9842 §5). */
  readonly dcz?: NamedBlob
  /** Dictionary-Compressed Brotli (RFC 9842 §4). */
  readonly dcb?: NamedBlob
}

const blobSchema = s.objectOf<NamedBlob>({ sha256: s.sha256, size: s.byteCount })

const variants = s.checked(
  s.objectOf<DeltaVariants>({ dcz: s.optional(blobSchema), dcb: s.optional(blobSchema) }),
  ({ dcz, dcb }, note) => {
    if (dcz === undefined && dcb === undefined) note('expected dcz, dcb or both')
  },
)

const deltasSchema = s.objectOf<DeltasDocument>({
  version: s.oneOf([deltasVersion]),
  files: byDigest(byDigest(variants)),
})

function byDigest<Value>(value: Schema<Value>): Schema<ReadonlyMap<string, Value>> {
  const digest = s.text('a SHA-256 in 64 lower-case hexadecimal digits as the key', /^[0-9a-f]{64}$/)
  return s.converted(s.recordOf(value, digest), (values) => new Map(Object.entries(values)))
}

/** Returns the key of the delta document of a build. */
export function deltasKey(id: string): string {
  return `${deltasPrefix}${id}.json`
}

/** Returns the blobs of all deltas, without duplicates. */
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
 * Parses a delta document.
 *
 * @param place - the name of the document for messages.
 * @throws OperatorError (`SD_STORE_INVALID`) that lists all problems.
 */
export function parseDeltas(json: string, place: string): DeltasDocument {
  const document = parseJson(json)
  const { version }: { readonly version?: unknown } = Object(document)
  if (version !== deltasVersion) {
    const found = JSON.stringify(version) ?? 'none'
    throw invalid(place, [`expected version ${deltasVersion} of the delta format, found ${found}`])
  }
  return s.read(deltasSchema, document, '$', (problems) => invalid(place, problems))
}

/**
 * Returns the text of a document, one line per file. The entries are sorted, because equal documents must have equal
 * bytes.
 */
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

function invalid(place: string, problems: readonly string[]): OperatorError {
  const heading = `${place}: the delta document is invalid. Publish or carry again.`
  return new OperatorError('SD_STORE_INVALID', problems, { heading })
}
