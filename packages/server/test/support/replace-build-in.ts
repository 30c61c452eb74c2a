import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { precompress, type PrecompressOptions } from '@serve-dist/precompress'
import type { FixtureFiles } from './build-fixture.ts'

/** Empties a folder and builds into it, like `emptyOutDir`. */
export async function replaceBuildIn(
  directory: string,
  files: FixtureFiles,
  options: PrecompressOptions = {},
): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), content)
  }
  await precompress(directory, { durable: false, ...options })
}
