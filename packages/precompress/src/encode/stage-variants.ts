import { type ContentCoding, type ManifestVariant, variantPath } from '@serve-dist/manifest'
import type { BuildWriter } from '../commit/build-writer.ts'
import type { LoadedFile } from '../folder/describe-file.ts'
import { digestOf } from '../folder/digest-of.ts'
import type { Encode } from '../codecs/encode.ts'
import type { Encoding, EncodingCache } from '../cache/encoding-cache.ts'
import { pays } from './pays.ts'

/** Where variants come from and where they go. */
export interface Staging {
  readonly encode: Encode
  readonly cache: EncodingCache
  readonly writer: Pick<BuildWriter, 'isInPlace' | 'stage'>
}

/** A file, and the codings that variants of it are wanted in. */
export interface UnstagedFile extends LoadedFile {
  readonly codings: readonly ContentCoding[]
}

/** The variants of a file that pay, and how many outcomes had been known. */
export interface StagedVariants {
  readonly variants: readonly ManifestVariant[]
  readonly cacheHits: number
}

/**
 * Stages the variants of a file that pay: from the cache, else encoded now and kept there. `onOutcome` is called when
 * the variant of a coding is staged, or left out.
 */
export async function stageVariants(
  file: UnstagedFile,
  staging: Staging,
  onOutcome: (coding: ContentCoding) => void,
): Promise<StagedVariants> {
  const { codings } = file
  const known = staging.cache.recall(file.sha256)
  // All must end before a failure is told: nothing may be staged behind the back of `discard`.
  const results = await Promise.allSettled(
    codings.map(async (coding) => {
      const encoding = await stageVariant(file, staging, known.get(coding) ?? coding)
      onOutcome(coding)
      return encoding
    }),
  )
  const encodings = results.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
  const outcomes = new Map([...known, ...encodings.map((encoding) => [encoding.coding, encoding] as const)])
  const cacheHits = encodings.filter((encoding) => known.get(encoding.coding) === encoding).length
  if (cacheHits < encodings.length) await staging.cache.keep(file.sha256, [...outcomes.values()])

  const variants = encodings.flatMap(({ coding, size, kept }): ManifestVariant[] =>
    kept === undefined ? [] : [{ coding, size, sha256: kept.sha256 }],
  )
  return { variants, cacheHits }
}

/** Stages one variant: a result that is known, or one in this coding that is made now. */
async function stageVariant(
  file: UnstagedFile,
  { encode, writer }: Staging,
  wanted: Encoding | ContentCoding,
): Promise<Encoding> {
  const coding = typeof wanted === 'string' ? wanted : wanted.coding
  const path = variantPath(file.path, coding)
  if (typeof wanted !== 'string') {
    if (wanted.kept === undefined || writer.isInPlace({ path, sha256: wanted.kept.sha256 })) return wanted
    const bytes = await wanted.kept.bytes()
    if (bytes !== undefined) {
      await writer.stage({ path, sha256: wanted.kept.sha256 }, bytes)
      return wanted
    }
  }
  const bytes = await encode(file.bytes, coding)
  if (!pays(coding, file.size, bytes.length)) return { coding, size: bytes.length }
  const sha256 = digestOf(bytes)
  if (!writer.isInPlace({ path, sha256 })) await writer.stage({ path, sha256 }, bytes)
  return { coding, size: bytes.length, kept: { sha256, bytes: async () => bytes } }
}
