import { type ContentCoding, contentCodings, type Manifest, type ManifestFile } from '@serve-dist/manifest'

/** A content coding, or the file as it is. */
export type Coding = 'identity' | ContentCoding

/**
 * A way to weigh a file: in one coding (the original where it has no such variant, as a client gets that
 * accepts this coding alone), as `sent` by default to a client that accepts every coding, or as `smallest`.
 */
export type SizeColumn = Coding | 'sent' | 'smallest'

/** Something for each way to weigh. */
export type BySizeColumn<Value> = Readonly<Record<SizeColumn, Value>>

/** Bytes, weighed in every way. */
export type Sizes = BySizeColumn<number>

/** What a build says of how it is served: by its rule `prefer` the server sends the smallest by default. */
export type BuildServing = Pick<Manifest, 'serving'>

/** What a report sums files up by. */
export type FileKind = 'js' | 'css' | 'html' | 'other'

/** All codings, the most widely understood first. */
export const codings: readonly Coding[] = ['identity', ...contentCodings.map(({ name }) => name).toReversed()]

/** All ways to weigh. */
export const sizeColumns: readonly SizeColumn[] = [...codings, 'sent', 'smallest']

/** All kinds, in the order of every table. */
export const fileKinds: readonly FileKind[] = ['js', 'css', 'html', 'other']

/** The kind of a file, by its media type. */
export function fileKindOf({ mediaType }: Pick<ManifestFile, 'mediaType'>): FileKind {
  if (/^(?:text|application)\/javascript\b/.test(mediaType)) return 'js'
  if (/^text\/css\b/.test(mediaType)) return 'css'
  if (/^(?:text\/html|application\/xhtml\+xml)\b/.test(mediaType)) return 'html'
  return 'other'
}

/** Asks for a value once for each way to weigh. */
export function bySizeColumn<Value>(valueOf: (column: SizeColumn) => Value): BySizeColumn<Value> {
  return {
    identity: valueOf('identity'),
    gzip: valueOf('gzip'),
    br: valueOf('br'),
    zstd: valueOf('zstd'),
    sent: valueOf('sent'),
    smallest: valueOf('smallest'),
  }
}

/** One file, weighed in every way; nothing where one of two builds lacks it. */
export function sizesOf(file: ManifestFile | undefined, build: BuildServing = {}): Sizes {
  return bySizeColumn((column) => {
    if (file === undefined) return 0
    if (column === 'sent') return sizeIn(file, sentCoding(file, build))
    return sizeIn(file, column === 'smallest' ? smallestCoding(file) : column)
  })
}

/** Several files, weighed together. */
export function sumSizes(all: readonly Sizes[]): Sizes {
  return bySizeColumn((column) => all.reduce((sum, sizes) => sum + sizes[column], 0))
}

/** What the files of one kind weigh together; without a kind, all files of the build. */
export function sumOfKind(build: Manifest, kind?: FileKind): Sizes {
  const files = build.files.filter((file) => kind === undefined || fileKindOf(file) === kind)
  return sumSizes(files.map((file) => sizesOf(file, build)))
}

/** The codings that some of the files have, identity first. */
export function codingsOf(files: readonly (ManifestFile | undefined)[]): Coding[] {
  return codings.filter(
    (coding) => coding === 'identity' || files.some((file) => file !== undefined && hasVariant(file, coding)),
  )
}

/** What a client that accepts every coding is sent: the server's order, zstd first, unless the build prefers another. */
export function sentCoding(file: ManifestFile, { serving }: BuildServing = {}): Coding {
  if (serving?.prefer === 'smallest') return smallestCoding(file)
  return contentCodings.find(({ name }) => hasVariant(file, name))?.name ?? 'identity'
}

/** What the same client is sent under `prefer: 'smallest'`: the fewest bytes, the server's order among equals. */
export function smallestCoding(file: ManifestFile): Coding {
  const inOrder = codings.toReversed().filter((coding) => hasVariant(file, coding))
  return [...inOrder, 'identity' as const].reduce((best, coding) =>
    sizeIn(file, coding) < sizeIn(file, best) ? coding : best,
  )
}

/** Whether a file is there in a coding of its own. */
export function hasVariant(file: ManifestFile, coding: Coding): boolean {
  return file.variants.some((variant) => variant.coding === coding)
}

function sizeIn(file: ManifestFile, coding: Coding): number {
  return file.variants.find((variant) => variant.coding === coding)?.size ?? file.size
}
