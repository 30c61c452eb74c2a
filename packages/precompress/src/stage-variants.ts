import { createHash } from 'node:crypto'
import { type ContentCoding, type ManifestVariant, variantPath } from '@serve-dist/manifest'
import type { BuildWriter } from './build-writer.ts'
import type { LoadedFile } from './describe-file.ts'
import type { Encode } from './encode.ts'
import type { Encoding, EncodingCache } from './encoding-cache.ts'
import { pays } from './pays.ts'

/** Where variants come from and where they go. */
export interface Staging {
  readonly encode: Encode
  readonly cache: EncodingCache
  readonly writer: BuildWriter
  /** Called when the variant of a coding is staged, or left out. */
  readonly onOutcome: (coding: ContentCoding) => void
}

/** The variants of a file that pay, and how many outcomes had been known. */
export interface StagedVariants {
  readonly variants: readonly ManifestVariant[]
  readonly cacheHits: number
}

/** Stages the variants of a file that pay: from the cache, else encoded now and kept there. */
export async function stageVariants(
  file: LoadedFile,
  codings: readonly ContentCoding[],
  staging: Staging,
): Promise<StagedVariants> {
  const known = staging.cache.recall(file.sha256)
  // All must end before a failure is told: nothing may be staged behind the back of `discard`.
  const results = await Promise.allSettled(
    codings.map(async (coding) => {
      const encoding = await stageVariant(file, coding, { ...staging, known })
      staging.onOutcome(coding)
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

async function stageVariant(
  file: LoadedFile,
  coding: ContentCoding,
  { encode, writer, known }: Staging & { readonly known: ReadonlyMap<ContentCoding, Encoding> },
): Promise<Encoding> {
  const path = variantPath(file.path, coding)
  const recalled = known.get(coding)
  if (recalled !== undefined) {
    const { kept } = recalled
    if (kept === undefined || writer.isInPlace({ path, sha256: kept.sha256 })) return recalled
    const bytes = await kept.bytes()
    if (bytes !== undefined) {
      await writer.stage({ path, sha256: kept.sha256 }, bytes)
      return recalled
    }
  }
  const bytes = await encode(file.bytes, coding)
  if (!pays(coding, file.size, bytes.length)) return { coding, size: bytes.length }
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  await writer.stage({ path, sha256 }, bytes)
  return { coding, size: bytes.length, kept: { sha256, bytes: async () => bytes } }
}
