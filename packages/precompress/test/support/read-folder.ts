import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/** Reads all files of a folder, including those of serve-dist, sorted by path. */
export async function readFolder(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
  const contents = await Promise.all(
    paths.toSorted().map(async (path) => [path, await readFile(join(folder, path))] as const),
  )
  return new Map(contents)
}
