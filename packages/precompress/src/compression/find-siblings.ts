import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import { contentCodings, isCompressible, type ManifestVariant, mediaTypeOf } from '@serve-dist/manifest'
import type { EncodingCache } from '../cache/encoding-cache.ts'
import type { CompressedFile } from '../commit/build-manifest.ts'
import { isWorthKeeping } from '../encode/compress-file.ts'
import { type DescribedFile, describeFile } from '../folder/describe-file.ts'
import type { ListedFile } from '../folder/list-files.ts'
import type { ResolvedPrecompressOptions } from '../resolve-precompress-options.ts'
import { decodesToOriginal } from './decodes-to-original.ts'
import { type Candidate, decodedAtOnce, findCandidates } from './find-candidates.ts'

/** Files with names of variants that no earlier compression of this folder is known to have written. */
export interface Siblings {
  /** Variants of serve-dist, recognized by the cache. They were copied from another folder. */
  readonly ours: readonly DescribedFile[]
  /** Correct variants of other programs. They are also files, and are never replaced or removed. */
  readonly foreign: readonly ForeignVariant[]
  /** Files whose content does not match their name. They are files like any other. */
  readonly strangers: readonly Candidate<DescribedFile>[]
  /** The paths of files of other programs. */
  readonly occupied: ReadonlySet<string>
}

/** A variant that another program made. */
export interface ForeignVariant {
  readonly original: DescribedFile
  readonly variant: ManifestVariant
}

interface SiblingSearch extends Pick<ResolvedPrecompressOptions, 'codings' | 'minimumSize'> {
  readonly folder: string
  readonly cache: EncodingCache
}

/** Examines files with names of variants. Reads no other files. */
export async function findSiblings(
  files: readonly ListedFile[],
  { folder, cache, codings, minimumSize }: SiblingSearch,
): Promise<Siblings> {
  const candidates = findCandidates(new Map(files.map((file) => [file.path, file]))).filter(
    ({ original, coding }) =>
      codings.includes(coding) && original.size >= minimumSize && isCompressible(mediaTypeOf(original.path)),
  )
  const ours: DescribedFile[] = []
  const foreign: ForeignVariant[] = []
  const strangers: Candidate<DescribedFile>[] = []
  const occupied = new Set<string>()
  await forEachConcurrently(candidates, decodedAtOnce, async ({ file: { path }, original: of, coding }) => {
    const file = await describeIfPossible(folder, path)
    const original = await describeIfPossible(folder, of.path)
    if (file === undefined || original === undefined) return
    const sibling = { file, original, coding }
    if (cache.recall(original.sha256).get(coding)?.kept?.sha256 === file.sha256) {
      ours.push(file)
      return
    }
    occupied.add(path)
    if (await decodesToOriginal(folder, sibling)) {
      foreign.push({ original, variant: { coding, size: file.size, sha256: file.sha256 } })
    } else strangers.push(sibling)
  })
  // Sort, so that the order does not depend on decoding times.
  strangers.sort((a, b) => (a.file.path < b.file.path ? -1 : 1))
  return { ours, foreign, strangers, occupied }
}

/** Describes a file, `undefined` if it is unreadable. A later step reports unreadable files. */
async function describeIfPossible(folder: string, path: string): Promise<DescribedFile | undefined> {
  return await describeFile(folder, path).catch(() => undefined)
}

/** Adds variants of other programs that are worth keeping, if the original has not changed. */
export function addForeignVariants(
  files: readonly CompressedFile[],
  foreign: readonly ForeignVariant[],
): readonly CompressedFile[] {
  if (foreign.length === 0) return files
  const order = contentCodings.map(({ name }) => name)
  return files.map((compressed) => {
    const { path, sha256, size } = compressed.file
    const more = foreign
      .filter(({ original }) => original.path === path && original.sha256 === sha256)
      .map(({ variant }) => variant)
      .filter((variant) => isWorthKeeping(variant.coding, size, variant.size))
    const variants = [...compressed.variants, ...more]
    return {
      ...compressed,
      variants: variants.toSorted((a, b) => order.indexOf(a.coding) - order.indexOf(b.coding)),
    }
  })
}

/** Warns once about all files that have the name of a variant but other content. */
export function warnAboutForeignVariants(
  strangers: Siblings['strangers'],
  warn: (message: string) => void,
): void {
  const [first] = strangers
  if (first === undefined) return
  const more = strangers.length > 1 ? ` (and ${strangers.length - 1} more such files)` : ''
  warn(
    `${first.file.path} is not a valid ${first.coding} variant of ${first.original.path}, and serve-dist did not write it${more}. serve-dist keeps such files, and writes no variants with these names. If another compression plugin or the framework wrote them, turn that off and delete them (SvelteKit: precompress of adapter-node, Nuxt: compressPublicAssets).`,
  )
}
