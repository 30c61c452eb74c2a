import { type ContentCoding, contentCodings } from '@serve-dist/manifest'
import { digestOf } from '../folder/digest-of.ts'

/** One result as the head of an entry holds it. */
export interface StoredEncoding {
  readonly coding: ContentCoding
  /** Codec, version and settings. */
  readonly codec: string
  /** Of the result, in bytes. */
  readonly size: number
  /** Where its bytes are, counted from the end of the head, and what they are; absent where it does not pay. */
  readonly stored?: { readonly offset: number; readonly sha256: string }
}

/** What the file of an entry says before the bytes of its results. */
export interface CacheEntry {
  readonly encodings: readonly StoredEncoding[]
  /** Where the bytes of the results begin. */
  readonly contentStart: number
}

/** More than a head ever takes; most entries of small files are read whole with it. */
export const headRoom = 16_384

/** Of SHA-256 in hexadecimal digits. */
const checksumLength = 64

/**
 * The file of an entry: a line with a checksum of its own, the digest of the original and what is known of it; then the
 * bytes of all results, one behind the other.
 */
export function formatEntry(
  original: string,
  encodings: readonly StoredEncoding[],
  contents: readonly Uint8Array[],
): Buffer {
  const text = JSON.stringify({ original, encodings })
  return Buffer.concat([Buffer.from(`${digestOf(text)} ${text}\n`), ...contents])
}

/**
 * The head of the original's entry from the first bytes of its file, or nothing when it is damaged, of another form or
 * another file's.
 */
export function parseEntry(bytes: Buffer, original: string): CacheEntry | undefined {
  const end = bytes.indexOf('\n')
  const line = bytes.toString('utf8', 0, Math.max(end, 0))
  const text = line.slice(checksumLength + 1)
  if (line.slice(0, checksumLength) !== digestOf(text)) return undefined
  const head: unknown = JSON.parse(text)
  if (fieldOf(head, 'original') !== original) return undefined
  const encodings = fieldOf(head, 'encodings')
  if (!Array.isArray(encodings) || !encodings.every(isStoredEncoding)) return undefined
  return { encodings, contentStart: end + 1 }
}

function isStoredEncoding(value: unknown): value is StoredEncoding {
  const stored = fieldOf(value, 'stored')
  return (
    contentCodings.some(({ name }) => name === fieldOf(value, 'coding')) &&
    typeof fieldOf(value, 'codec') === 'string' &&
    Number.isSafeInteger(fieldOf(value, 'size')) &&
    (stored === undefined ||
      (Number.isSafeInteger(fieldOf(stored, 'offset')) && typeof fieldOf(stored, 'sha256') === 'string'))
  )
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}
