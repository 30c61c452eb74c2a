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

/** What lies beside files under the names of their variants, though no earlier pass is known to have put it there. */
export interface Siblings {
  /** Ours by their bytes: a pass made them for another folder, and somebody copied them here. */
  readonly ours: readonly DescribedFile[]
  /** Of somebody else, and right: variants, and files under their own names. Never replaced, never removed. */
  readonly foreign: readonly ForeignVariant[]
  /** Of somebody else, and not what their names say: files like any other. */
  readonly strangers: readonly Candidate<DescribedFile>[]
  /** The paths of what is somebody else's. */
  readonly occupied: ReadonlySet<string>
}

/** What somebody else made of a file. */
export interface ForeignVariant {
  readonly original: DescribedFile
  readonly variant: ManifestVariant
}

interface SiblingSearch extends Pick<ResolvedPrecompressOptions, 'codings' | 'minimumSize'> {
  readonly folder: string
  readonly cache: EncodingCache
}

/** Looks at what lies where variants would go; reads nothing where there is no such file. */
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
  // The order must not depend on which file was decoded first.
  strangers.sort((a, b) => (a.file.path < b.file.path ? -1 : 1))
  return { ours, foreign, strangers, occupied }
}

/** What cannot be read fails the pass later, with all others. */
async function describeIfPossible(folder: string, path: string): Promise<DescribedFile | undefined> {
  return await describeFile(folder, path).catch(() => undefined)
}

/** The files with the variants of somebody else that pay, of those that did not change since. */
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

/** Warns once of all files whose names are names of variants. */
export function warnAboutForeignVariants(
  strangers: Siblings['strangers'],
  warn: (message: string) => void,
): void {
  const [first] = strangers
  if (first === undefined) return
  const more = strangers.length > 1 ? ` (and ${strangers.length - 1} more such files)` : ''
  warn(
    `${first.file.path} is not ${first.original.path} in ${first.coding}, and serve-dist did not write it${more}: it stays a file like any other, and that variant is left out. Another compression plugin may have written it, or the framework (precompress of SvelteKit's adapter-node, compressPublicAssets of Nuxt): turn that off and delete the file.`,
  )
}
