import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Creates a folder with these files and removes it after the test. */
export async function makeFolder(files: Record<string, string | Uint8Array> = {}): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'serve-dist-')))
  onTestFinished(async () => await rm(folder, { recursive: true, force: true }))
  await addFiles(folder, files)
  return folder
}

export async function addFiles(folder: string, files: Record<string, string | Uint8Array>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
}
