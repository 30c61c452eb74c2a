import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { precompress } from '@serve-dist/precompress'
import { cacheDirectory } from '../serve/bench-directory.ts'
import { cutScript } from '../serve/load/fixture-corpus.ts'
import { makeFolderOnce } from '../serve/load/make-folder-once.ts'
import { noise } from '../serve/load/noise.ts'

/** A folder to be served. */
export interface BootFolder {
  readonly title: string
  readonly directory: string
}

/** Folders of many small files, made once: one with variants, one whose files nothing makes smaller. */
export async function prepareFolders(count: number): Promise<readonly BootFolder[]> {
  const scripts = join(cacheDirectory, `boot/${count}-scripts`)
  const images = join(cacheDirectory, `boot/${count}-images`)
  await makeFolderOnce(scripts, async (folder) => {
    for (let index = 0; index < count; index += 1) {
      await write(folder, `${index % 100}/file-${index}.js`, await cutScript(index * 7919, 2048))
    }
    await finish(folder)
  })
  await makeFolderOnce(images, async (folder) => {
    for (let index = 0; index < count; index += 1) {
      await write(folder, `${index % 100}/file-${index}.png`, noise(index, 4096))
    }
    await finish(folder)
  })
  return [
    { title: `${count} files of 2 kB, three variants each`, directory: scripts },
    { title: `${count} files of 4 kB, no variants`, directory: images },
  ]
}

async function write(folder: string, asset: string, bytes: Buffer): Promise<void> {
  const file = join(folder, 'assets', asset)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, bytes)
}

async function finish(folder: string): Promise<void> {
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>boot</title>')
  await precompress(folder)
}
