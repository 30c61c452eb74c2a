import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { precompress } from '@serve-dist/precompress'
import { cacheDirectory } from '../serve/bench-directory.ts'

/** A folder to be served. */
export interface BootFolder {
  readonly title: string
  readonly directory: string
}

/** Folders of many small files, made once: one with variants, one whose files nothing makes smaller. */
export async function prepareFolders(count: number): Promise<readonly BootFolder[]> {
  const text = join(cacheDirectory, `boot/${count}-compressed`)
  const noise = join(cacheDirectory, `boot/${count}-incompressible`)
  await makeOnce(text, async (folder) => {
    await fill(folder, count, { extension: 'js', write: words(2048) })
    await precompress(folder)
  })
  await makeOnce(noise, async (folder) => {
    await fill(folder, count, { extension: 'png', write: octets(4096) })
    await precompress(folder)
  })
  return [
    { title: `${count} files of 2 kB, three variants each`, directory: text },
    { title: `${count} files of 4 kB, no variants`, directory: noise },
  ]
}

async function makeOnce(folder: string, make: (folder: string) => Promise<void>): Promise<void> {
  if (existsSync(folder)) return
  const unfinished = `${folder}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await make(unfinished)
  await rename(unfinished, folder)
}

interface Content {
  readonly extension: string
  readonly write: () => Buffer
}

async function fill(folder: string, count: number, { extension, write }: Content): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const file = join(folder, `assets/${index % 100}/file-${index}.${extension}`)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, write())
  }
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>boot</title>')
}

/** The same numbers in each run (Numerical Recipes' generator). */
function createRandom(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 8
  }
}

function words(size: number): () => Buffer {
  const random = createRandom()
  const letters = 'etaoinshrdlucmfwypvbgkjqxz'
  const vocabulary = Array.from({ length: 600 }, () =>
    Array.from({ length: 3 + (random() % 8) }, () => letters.charAt(random() % letters.length)).join(''),
  )
  return () => {
    let text = ''
    while (text.length < size) text += `${vocabulary[random() % vocabulary.length] ?? ''} `
    return Buffer.from(text.slice(0, size))
  }
}

function octets(size: number): () => Buffer {
  const random = createRandom()
  return () => Buffer.from(Array.from({ length: size }, () => random() & 255))
}
