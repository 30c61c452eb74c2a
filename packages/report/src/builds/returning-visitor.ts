import { pluralize } from '@serve-dist/foundation/text/pluralize'
import type { ChangedFile, Download, Manifest, ManifestFile } from '@serve-dist/manifest'
import { formatBytes } from './format-values.ts'
import { sizesOf, type Sizes, sumSizes } from './sizes.ts'

/** A changed file with its entry in the manifest. */
export interface FileToLoad extends ChangedFile {
  readonly file: ManifestFile
  readonly sizes: Sizes
}

/** Returns the files that a browser loads again, in the order of the download. */
export function filesToLoad(build: Manifest, { changes }: Download): FileToLoad[] {
  const files = new Map(build.files.map((file) => [file.path, file]))
  return changes.flatMap((change) => {
    const file = files.get(change.path)
    return file === undefined ? [] : [{ ...change, file, sizes: sizesOf(file, build) }]
  })
}

/** Returns the total size of the files. */
export function sumSizesToLoad(files: readonly FileToLoad[]): Sizes {
  return sumSizes(files.map(({ sizes }) => sizes))
}

/**
 * Describes a download: `a returning visitor downloads at most 2 files: 20.00 kB in br, 21.30 kB in zstd, 1.10 kB with
 * deltas (Chromium)`
 */
export function describeDownload(build: Manifest, download: Download): string {
  const { files, bytesWithDeltas } = download
  if (files === 0) return 'a returning visitor downloads nothing'
  const { br, zstd } = sumSizesToLoad(filesToLoad(build, download))
  const withDeltas =
    bytesWithDeltas === undefined ? 'no deltas' : `${formatBytes(bytesWithDeltas)} with deltas (Chromium)`
  return `a returning visitor downloads at most ${pluralize(files, 'file')}: ${formatBytes(br)} in br, ${formatBytes(zstd)} in zstd, ${withDeltas}`
}
