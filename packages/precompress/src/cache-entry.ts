import { type ContentCoding, contentCodings } from '@serve-dist/manifest'

/** One result as the index of the cache holds it. */
export interface StoredEncoding {
  readonly coding: ContentCoding
  /** Codec, version and settings. */
  readonly codec: string
  /** Of the result, in bytes. */
  readonly size: number
  /** Where and what its bytes are in the entry's content; absent where it does not pay. */
  readonly stored?: { readonly offset: number; readonly sha256: string }
}

/** What the index of the cache holds of one original. */
export interface CacheEntry {
  /** Of the content: all results, one behind the other. */
  readonly integrity: string
  /** When it was last used, about; in milliseconds since 1970. */
  readonly time: number
  readonly size: number
  readonly encodings: readonly StoredEncoding[]
}

/** The key of an original in the cache; the number is that of the form of its entry. */
export function entryKey(sha256: string): string {
  return `serve-dist:1:${sha256}`
}

/** The entry, or nothing when it is none of ours. */
export function parseEntry(value: unknown): CacheEntry | undefined {
  const integrity = fieldOf(value, 'integrity')
  const time = fieldOf(value, 'time')
  const size = fieldOf(value, 'size')
  const encodings = fieldOf(fieldOf(value, 'metadata'), 'encodings')
  if (typeof integrity !== 'string' || typeof time !== 'number' || typeof size !== 'number') return undefined
  if (!Array.isArray(encodings) || !encodings.every(isStoredEncoding)) return undefined
  return { integrity, time, size, encodings }
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
