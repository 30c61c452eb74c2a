import type { CompressedFile } from './build-manifest.ts'
import type { LinksOf } from '../precompress-options.ts'

/** The files with the links of the pages among them, one page after the other. */
export async function linkPages(
  files: readonly CompressedFile[],
  linksOf: LinksOf,
): Promise<CompressedFile[]> {
  const paths = new Set(files.map(({ file }) => file.path))
  const linked: CompressedFile[] = []
  for (const compressed of files) {
    const { path, mediaType } = compressed.file
    const links = mediaType.startsWith('text/html') ? await linksOf(path, paths) : []
    linked.push({ ...compressed, links })
  }
  return linked
}
