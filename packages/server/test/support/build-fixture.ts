import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { precompress, type PrecompressOptions } from '@serve-dist/precompress'
import { temporaryDirectory } from './temporary-directory.ts'

/** The contents of a build's files, by path. */
export type FixtureFiles = Readonly<Record<string, string | Uint8Array>>

/** Writes files into a new folder, which is removed after the test file. */
export async function writeFixture(files: FixtureFiles): Promise<string> {
  const directory = await temporaryDirectory()
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), content)
  }
  return directory
}

/** Writes and compresses a real build with a manifest. */
export async function buildFixture(files: FixtureFiles, options: PrecompressOptions = {}): Promise<string> {
  const directory = await writeFixture(files)
  await precompress(directory, options)
  return directory
}
