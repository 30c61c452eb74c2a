import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { precompress, type PrecompressOptions } from '@serve-dist/precompress'
import { temporaryDirectory } from './temporary-directory.ts'

/** What the files of a build hold, by their paths. */
export type FixtureFiles = Readonly<Record<string, string | Uint8Array>>

/** Writes files into a folder of their own, which is removed when the test file is done. */
export async function writeFixture(files: FixtureFiles): Promise<string> {
  const directory = await temporaryDirectory()
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), content)
  }
  return directory
}

/** Makes a real build of files: written, compressed and described. */
export async function buildFixture(files: FixtureFiles, options: PrecompressOptions = {}): Promise<string> {
  const directory = await writeFixture(files)
  await precompress(directory, options)
  return directory
}
