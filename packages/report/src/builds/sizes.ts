import { type ContentCoding, contentCodings, type Manifest, type ManifestFile } from '@serve-dist/manifest'

/** A content coding, or the file as it is. */
export type Coding = 'identity' | ContentCoding

/**
 * A way to weigh a file: in one coding (the original where it has no such variant, as a client gets that
 * accepts this coding alone), as `sent` by default to a client that accepts every coding, or as `smallest`.
 */
export type SizeColumn = Coding | 'sent' | 'smallest'

/** All codings, the most widely understood first. */
export const codings: readonly Coding[] = ['identity', ...contentCodings.map(({ name }) => name).toReversed()]

/** All ways to weigh. */
export const sizeColumns: readonly SizeColumn[] = [...codings, 'sent', 'smallest']

/** Bytes, weighed in every way. */
export type Sizes = Readonly<Record<SizeColumn, number>>

/** What weighs nothing. */
export const noSizes: Sizes = { identity: 0, gzip: 0, br: 0, zstd: 0, sent: 0, smallest: 0 }

/** What a build says of how it is served: by its rule `prefer` the server sends the smallest by default. */
export type BuildServing = Pick<Manifest, 'serving'>

/** One file, weighed in every way; without its build as one that says nothing of how it is served. */
export function sizesOf(file: ManifestFile, build: BuildServing = {}): Sizes {
  return {
    identity: file.size,
    gzip: sizeIn(file, 'gzip'),
    br: sizeIn(file, 'br'),
    zstd: sizeIn(file, 'zstd'),
    sent: sizeIn(file, sentCoding(file, build)),
    smallest: sizeIn(file, smallestCoding(file)),
  }
}

/** The same of a file that one of two builds may lack. */
export function sizesOrNone(file: ManifestFile | undefined, build: BuildServing): Sizes {
  return file === undefined ? noSizes : sizesOf(file, build)
}

/** Several files, weighed together. */
export function sumSizes(all: Iterable<Sizes>): Sizes {
  const sum: Record<SizeColumn, number> = { ...noSizes }
  for (const sizes of all) for (const column of sizeColumns) sum[column] += sizes[column]
  return sum
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
