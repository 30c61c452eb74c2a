import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '@serve-dist/foundation/files/file-error'
import { type ContentCoding, type ManifestVariant, variantPath } from '@serve-dist/manifest'
import type { Encoding, EncodingCache } from '../cache/encoding-cache.ts'
import type { Encode } from '../codecs/encode.ts'
import { encodingCost } from '../codecs/encoding-cost.ts'
import type { CompressedFile } from '../commit/build-manifest.ts'
import type { BuildWriter } from '../commit/build-writer.ts'
import { describeFile, digestOf, loadFile, type LoadedFile } from '../folder/describe-file.ts'
import type { SharedMemory } from './create-shared-memory.ts'

/** A file, and in which codings variants of it are wanted. */
export interface FileTask {
  /** Relative to the build's folder. */
  readonly path: string
  /** In bytes, when it was listed. */
  readonly size: number
  /** None: it is only described. */
  readonly codings: readonly ContentCoding[]
}

/** What came of it. */
export interface FileOutcome {
  readonly compressed: CompressedFile
  /** Places of variants that others hold. */
  readonly taken: readonly string[]
  /** Outcomes of encoding that the cache knew. */
  readonly cacheHits: number
}

/** Where files stand, where variants come from and where they go. */
export interface FileContext {
  /** The build's, absolute. */
  readonly folder: string
  /** The variants of earlier passes, path to digest: only those may be replaced. */
  readonly ours: ReadonlyMap<string, string>
  readonly encode: Encode
  readonly cache: EncodingCache
  readonly writer: Pick<BuildWriter, 'isInPlace' | 'stage'>
  /** Of the files that are read. */
  readonly memory: SharedMemory
  /** Called when the variant of a coding is staged or left out, with its share of the file's work. */
  readonly onShare: (file: FileTask, share: number) => void
}

/** Describes a file and stages the variants that pay. */
export async function compressFile(task: FileTask, context: FileContext): Promise<FileOutcome> {
  const { path, codings } = task
  const { folder, memory } = context
  if (codings.length === 0) {
    return { compressed: { file: await describeFile(folder, path), variants: [] }, taken: [], cacheHits: 0 }
  }
  const { free, taken } = findPlaces(path, codings, context)
  const held: Uint8Array[] = []
  const take = async (size: number): Promise<Uint8Array> => {
    const bytes = await memory.take(size)
    held.push(bytes)
    return bytes
  }
  try {
    const loaded = await loadFile(folder, path, take)
    const work = free.reduce((sum, coding) => sum + encodingCost(coding, 1), 0)
    const { variants, cacheHits } = await stageVariants(loaded, free, {
      ...context,
      onStaged: (coding) => context.onShare(task, encodingCost(coding, 1) / work),
    })
    // Lets go of the bytes.
    const { mediaType, size, sha256, stamp } = loaded
    return { compressed: { file: { path, mediaType, size, sha256, stamp }, variants }, taken, cacheHits }
  } finally {
    for (const bytes of held) memory.giveBack(bytes)
  }
}

/**
 * The codings whose variant has a free place beside the original, and the places that others hold: a variant never
 * replaces a file that is not ours, whatever its bytes are.
 */
function findPlaces(
  path: string,
  codings: readonly ContentCoding[],
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
    // Anything else is a place where nothing can stand, such as a name that grew too long.
    return isMissing(error) ? 'free' : 'impossible'
  }
}

interface StagingContext extends FileContext {
  /** Called when the variant of a coding is staged, or left out. */
  readonly onStaged: (coding: ContentCoding) => void
}

/** Stages the variants of a file that pay: from the cache, else encoded now and kept there. */
async function stageVariants(
  file: LoadedFile,
  codings: readonly ContentCoding[],
  context: StagingContext,
): Promise<{ readonly variants: readonly ManifestVariant[]; readonly cacheHits: number }> {
  const { cache, onStaged } = context
  const known = cache.recall(file.sha256)
  // All must end before one fails the file: nothing may be staged behind the back of `discard`.
  const results = await Promise.allSettled(
    codings.map(async (coding) => {
      const encoding =
        (await stageKnown(file, known.get(coding), context)) ?? (await encodeVariant(file, coding, context))
      onStaged(coding)
      return encoding
    }),
  )
  const encodings = results.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
  const outcomes = new Map([...known, ...encodings.map((encoding) => [encoding.coding, encoding] as const)])
  const cacheHits = encodings.filter((encoding) => known.get(encoding.coding) === encoding).length
  if (cacheHits < encodings.length) await cache.keep(file.sha256, [...outcomes.values()])

  const variants = encodings.flatMap(({ coding, size, kept }): ManifestVariant[] =>
    kept === undefined ? [] : [{ coding, size, sha256: kept.sha256 }],
  )
  return { variants, cacheHits }
}

/** Stages what the cache knows, unless its bytes were lost. */
async function stageKnown(
  file: LoadedFile,
  known: Encoding | undefined,
  { writer }: FileContext,
): Promise<Encoding | undefined> {
  if (known?.kept === undefined) return known
  const claim = { path: variantPath(file.path, known.coding), sha256: known.kept.sha256 }
  if (writer.isInPlace(claim)) return known
  const bytes = await known.kept.bytes()
  if (bytes === undefined) return undefined
  await writer.stage(claim, bytes)
  return known
}

async function encodeVariant(
  file: LoadedFile,
  coding: ContentCoding,
  { encode, writer }: FileContext,
): Promise<Encoding> {
  const bytes = await encode(file.bytes, coding)
  if (!pays(coding, file.size, bytes.length)) return { coding, size: bytes.length }
  const claim = { path: variantPath(file.path, coding), sha256: digestOf(bytes) }
  if (!writer.isInPlace(claim)) await writer.stage(claim, bytes)
  return { coding, size: bytes.length, kept: { sha256: claim.sha256, bytes: async () => bytes } }
}

/** Below this share of the original's size a variant costs more (disk, memory, caches) than it brings. */
const smallestSaving = 0.05

/**
 * Whether a variant is worth keeping: it saves more bytes than the fields that it adds to every response,
 * and at least 5 % of the original.
 */
export function pays(coding: ContentCoding, originalSize: number, encodedSize: number): boolean {
  const saved = originalSize - encodedSize
  const addedFields = `Content-Encoding: ${coding}\r\nVary: Accept-Encoding\r\n`
  return saved > addedFields.length && saved >= originalSize * smallestSaving
}
