import { readdir } from 'node:fs/promises'
import path from 'node:path'

/** Lists all files under a folder with relative paths and `/` between segments, sorted. */
export async function walkFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      path.relative(directory, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'),
    )
    .toSorted()
}
