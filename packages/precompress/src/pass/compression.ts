import type { ContentCoding } from '@serve-dist/manifest'
import type { BuildWriter } from '../commit/build-writer.ts'
import type { EncodingCache } from '../cache/encoding-cache.ts'
import type { Encoder } from '../encode/open-encoder.ts'
import type { Progress } from '../precompress-options.ts'

/** Where the files stand, how they are encoded and where the results go. */
export interface Compression {
  readonly folder: string
  readonly codings: readonly ContentCoding[]
  readonly minimumSize: number
  readonly bytesInFlight: number
  readonly encoder: Encoder
  readonly cache: EncodingCache
  /** The variants of earlier passes, path to digest: only those may be replaced. */
  readonly ours: ReadonlyMap<string, string>
  readonly writer: BuildWriter
  /** Ends everything early, with its reason. */
  readonly signal: AbortSignal | undefined
  readonly onProgress: (progress: Progress) => void
  readonly warn: (message: string) => void
}
