import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { isNotFoundError } from '@serve-dist/foundation/files/file-error'
import { type ContentCoding, type ManifestVariant, variantPath } from '@serve-dist/manifest'
import type { Encoding, EncodingCache } from '../cache/encoding-cache.ts'
import { encodingCost } from '../codecs/encoding-cost.ts'
import type { CompressedFile } from '../commit/build-manifest.ts'
import type { BuildWriter } from '../commit/build-writer.ts'
import type { OwnVariants } from '../commit/read-earlier-build.ts'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { type DescribedFile } from '../folder/describe-file.ts'

/** A file, and the codings of the variants to make. */
export interface FileTask {
  /** Relative to the build's folder. */
  readonly path: string
  /** Size in bytes when the file was listed. */
  readonly size: number
  /** Empty if the file is only described. */
  readonly codings: readonly ContentCoding[]
}

/** The result of a file. */
export interface FileOutcome {
  readonly compressed: CompressedFile
  /** Paths of variants that are files of the user. */
  readonly taken: readonly string[]
  /** The number of variants from the cache. */
  readonly cacheHits: number
}

/** The folder, codecs and outputs of the files of a step. */
export interface FileContext {
  /** Absolute path of the build's folder. */
  readonly folder: string
  readonly ours: OwnVariants
  readonly describe: (path: string) => Promise<DescribedFile>
  readonly encode: (file: DescribedFile, coding: ContentCoding) => Promise<Uint8Array>
  readonly cache: EncodingCache
  /** Writes a variant into the staging folder. */
  readonly stage: BuildWriter['stage']
  /** Called when the variant of a coding is staged or left out, with its share of the file's work. */
  readonly onShare: (file: FileTask, share: number) => void
}

/** Describes a file and stages the variants that are worth keeping, from the cache if it has them. */
export async function compressFile(task: FileTask, context: FileContext): Promise<FileOutcome> {
  const { cache, describe, onShare } = context
  const { free, taken } = findPlaces(task, context)
  const file = await describe(task.path)
  if (free.length === 0) return { compressed: { file, variants: [] }, taken, cacheHits: 0 }

  const known = cache.recall(file.sha256)
  const work = free.reduce((sum, coding) => sum + encodingCost(coding, 1), 0)
  // Wait for all codings even if one fails: no variant may be staged after `discard`.
  const results = await Promise.allSettled(
    free.map(async (coding) => {
      const encoding =
        (await stageKnown(file, known.get(coding), context)) ?? (await encodeVariant(file, coding, context))
      onShare(task, encodingCost(coding, 1) / work)
      return encoding
    }),
  )
  const encodings = results.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
  const recalled = encodings.filter((encoding) => known.get(encoding.coding) === encoding)
  if (recalled.length < encodings.length) {
    const outcomes = new Map([...known, ...encodings.map((encoding) => [encoding.coding, encoding] as const)])
    await cache.keep(file.sha256, [...outcomes.values()])
  }
  const variants = encodings.flatMap(({ coding, size, kept }): ManifestVariant[] =>
    kept === undefined ? [] : [{ coding, size, sha256: kept.sha256 }],
  )
  const cacheHits = recalled.filter(({ kept }) => kept !== undefined).length
  return { compressed: { file, variants }, taken, cacheHits }
}

/** Returns the codings whose variant can be written, and the variants that would replace a file of the user. */
function findPlaces(
  { path, codings }: FileTask,
  { folder, ours }: FileContext,
): { readonly free: readonly ContentCoding[]; readonly taken: readonly string[] } {
  const free: ContentCoding[] = []
  const taken: string[] = []
  for (const coding of codings) {
    const place = variantPath(path, coding)
    const state = ours.has(place) ? 'free' : stateOf(join(folder, place))
    if (state === 'free') free.push(coding)
    if (state === 'taken') taken.push(place)
  }
  return { free, taken }
}

function stateOf(path: string): 'free' | 'taken' | 'impossible' {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined ? 'free' : 'taken'
  } catch (error) {
    // Other errors mean that the path is impossible, such as a name that is too long.
    return isNotFoundError(error) ? 'free' : 'impossible'
  }
}

/** Stages a cached result. Returns `undefined` if its bytes are lost. */
async function stageKnown(
  file: DescribedFile,
  known: Encoding | undefined,
  { ours, stage }: FileContext,
): Promise<Encoding | undefined> {
  if (known?.kept === undefined) return known
  const claim = { path: variantPath(file.path, known.coding), sha256: known.kept.sha256 }
  if (ours.get(claim.path)?.sha256 === claim.sha256) return known
  const bytes = await known.kept.bytes()
  if (bytes === undefined) return undefined
  await stage(claim, bytes)
  return known
}

async function encodeVariant(
  file: DescribedFile,
  coding: ContentCoding,
  { encode, ours, stage }: FileContext,
): Promise<Encoding> {
  const bytes = await encode(file, coding)
  if (!isWorthKeeping(coding, file.size, bytes.length)) return { coding, size: bytes.length }
  const claim = { path: variantPath(file.path, coding), sha256: sha256Of(bytes) }
  if (ours.get(claim.path)?.sha256 !== claim.sha256) await stage(claim, bytes)
  return { coding, size: bytes.length, kept: { sha256: claim.sha256, bytes: async () => bytes } }
}

/** Minimum share of the original's size. A smaller saving does not justify the disk, memory and cache of a variant. */
const smallestSaving = 0.05

/**
 * Returns whether a variant saves at least 5 % of the original, and more bytes than its fields add to each response.
 */
export function isWorthKeeping(coding: ContentCoding, originalSize: number, encodedSize: number): boolean {
  const saved = originalSize - encodedSize
  const addedFields = `Content-Encoding: ${coding}\r\nVary: Accept-Encoding\r\n`
  return saved > addedFields.length && saved >= originalSize * smallestSaving
}
