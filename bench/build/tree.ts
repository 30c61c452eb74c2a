import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { cacheDirectory } from '../serve/bench-directory.ts'

/** A folder of files for builds. */
export interface Tree {
  readonly name: string
  readonly title: string
  /** Writes the files into an empty folder. */
  readonly fill: (folder: string) => Promise<void>
  /** The number of files for the measurement of the codecs. @default all */
  readonly codecSample?: number
}

const editor = fileURLToPath(new URL('../../../examples/editor', import.meta.url))

export const trees: readonly Tree[] = [
  { name: 'editor', title: 'examples/editor: 96 files, 14 MB', fill: fillEditor },
  { name: 'small', title: '10,000 files of 2 kB', fill: async (folder) => await cut(folder, 10_000, 2048) },
  {
    name: 'huge',
    title: '20 files of 20 MB',
    fill: async (folder) => await cut(folder, 20, 20_000_000),
    // All files are alike, and the codecs need a minute for each in one thread.
    codecSample: 2,
  },
]

/** Fills the folder of a tree once, and again if an earlier run did not finish. Returns the folder. */
export async function prepareTree({ name, fill }: Pick<Tree, 'name' | 'fill'>): Promise<string> {
  const folder = join(cacheDirectory, 'trees', name)
  if (existsSync(folder)) return folder
  const unfinished = `${folder}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { recursive: true })
  await fill(unfinished)
  await rename(unfinished, folder)
  return folder
}

/** Lists the files below a folder, as sorted relative paths with `/`. */
export async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .toSorted((a, b) => (a < b ? -1 : 1))
}

async function fillEditor(folder: string): Promise<void> {
  await build({
    root: editor,
    configFile: false,
    logLevel: 'error',
    build: { outDir: folder, emptyOutDir: true, chunkSizeWarningLimit: 8000, reportCompressedSize: false },
  })
}

/** Cuts files out of the editor's scripts, each at another offset. Long files repeat the scripts with changes. */
async function cut(folder: string, count: number, size: number): Promise<void> {
  const source = await prepareTree({ name: 'editor', fill: fillEditor })
  const scripts = (await listFiles(source)).filter((path) => path.endsWith('.js'))
  const text = Buffer.concat(
    await Promise.all(scripts.map(async (path) => await readFile(join(source, path)))),
  )
  for (let index = 0; index < count; index += 1) {
    const bytes = Buffer.alloc(size)
    let place = (index * 1_361_003) % text.length
    for (let filled = 0; filled < size;) {
      const length = Math.min(500_000, text.length - place, size - filled)
      text.copy(bytes, filled, place, place + length)
      filled += length
      place = (place + length * 7 + index) % text.length
    }
    // Repeated text must not be a copy.
    for (let at = index; size > text.length && at < size; at += 97) bytes[at] = (at * (index + 1)) & 127
    const path = join(folder, `assets/${index % 100}/file-${index}.js`)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, bytes)
  }
}
