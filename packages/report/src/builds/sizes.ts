import { type ContentCoding, contentCodings, type Manifest, type ManifestFile } from '@serve-dist/manifest'

/** A content coding, or the uncompressed file. */
export type Coding = 'identity' | ContentCoding

/**
 * A kind of size. A coding: the size of that variant, or of the file if it has none. `sent`: the size that the server
 * sends to a client that accepts every coding. `smallest`: the size of the smallest variant.
 */
export type SizeColumn = Coding | 'sent' | 'smallest'

/** A value for each kind of size. */
export type BySizeColumn<Value> = Readonly<Record<SizeColumn, Value>>

/** The number of bytes for each kind of size. */
export type Sizes = BySizeColumn<number>

/** The serving rules of a build. Its rule `prefer` can select the smallest variants. */
export type BuildServing = Pick<Manifest, 'serving'>

/** The kind of a file in a report. */
export type FileKind = 'js' | 'css' | 'html' | 'other'

/** All codings, the most widely supported first. */
export const codings: readonly Coding[] = ['identity', ...contentCodings.map(({ name }) => name).toReversed()]

/** All kinds of sizes. */
export const sizeColumns: readonly SizeColumn[] = [...codings, 'sent', 'smallest']

/** All kinds of files, in the order of every table. */
export const fileKinds: readonly FileKind[] = ['js', 'css', 'html', 'other']

/** Returns the kind of a file by its media type. */
export function fileKindOf({ mediaType }: Pick<ManifestFile, 'mediaType'>): FileKind {
  if (/^(?:text|application)\/javascript\b/.test(mediaType)) return 'js'
  if (/^text\/css\b/.test(mediaType)) return 'css'
  if (/^(?:text\/html|application\/xhtml\+xml)\b/.test(mediaType)) return 'html'
  return 'other'
}

/** Calls a function for each kind of size. */
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

/** Returns the sizes of a file. They are 0 for a missing file. */
export function sizesOf(file: ManifestFile | undefined, build: BuildServing = {}): Sizes {
  return bySizeColumn((column) => {
    if (file === undefined) return 0
    if (column === 'sent') return sizeIn(file, sentCoding(file, build))
    return sizeIn(file, column === 'smallest' ? smallestCoding(file) : column)
  })
}

/** Returns the total sizes of files. */
export function sumSizes(all: readonly Sizes[]): Sizes {
  return bySizeColumn((column) => all.reduce((sum, sizes) => sum + sizes[column], 0))
}

/** Returns the total sizes of the files of one kind, or of all files. */
export function sumOfKind(build: Manifest, kind?: FileKind): Sizes {
  const files = build.files.filter((file) => kind === undefined || fileKindOf(file) === kind)
  return sumSizes(files.map((file) => sizesOf(file, build)))
}

/** Returns the codings that at least one file has, identity first. */
export function codingsOf(files: readonly (ManifestFile | undefined)[]): Coding[] {
  return codings.filter(
    (coding) => coding === 'identity' || files.some((file) => file !== undefined && hasVariant(file, coding)),
  )
}

/**
 * Returns the coding that the server sends to a client that accepts every coding. The server prefers zstd, unless the
 * build sets a preference.
 */
export function sentCoding(file: ManifestFile, { serving }: BuildServing = {}): Coding {
  if (serving?.prefer === 'smallest') return smallestCoding(file)
  return contentCodings.find(({ name }) => hasVariant(file, name))?.name ?? 'identity'
}

/** Returns the smallest coding. The server's order decides between equal sizes. */
export function smallestCoding(file: ManifestFile): Coding {
  const inOrder = codings.toReversed().filter((coding) => hasVariant(file, coding))
  return [...inOrder, 'identity' as const].reduce((best, coding) =>
    sizeIn(file, coding) < sizeIn(file, best) ? coding : best,
  )
}

/** Returns whether a file has a variant in a coding. */
export function hasVariant(file: ManifestFile, coding: Coding): boolean {
  return file.variants.some((variant) => variant.coding === coding)
}

function sizeIn(file: ManifestFile, coding: Coding): number {
  return file.variants.find((variant) => variant.coding === coding)?.size ?? file.size
}
