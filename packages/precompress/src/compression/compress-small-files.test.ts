import { unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { contentCodings, variantPath } from '@serve-dist/manifest'
import { describe, expect, test, vi } from 'vitest'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { encode } from '../codecs/encode.ts'
import type { EncodeThread } from '../encode/start-encode-thread.ts'
import { compressionTools, precompress, runCompression } from './precompress.ts'
import type { Progress } from '../precompress-options.ts'
import { makeFolder } from '../../test/support/make-folder.ts'
import { readFolder } from '../../test/support/read-folder.ts'

const codings = contentCodings.map(({ name }) => name)

/** Enough files that threads compress most of them. */
const files = Object.fromEntries(
  Array.from({ length: 100 }, (_, index) => [
    `${String(index).padStart(3, '0')}.js`,
    `export const answer${index} = () => "forty-two";\n`.repeat(50 + (index >> 1)),
  ]),
)
const names = Object.keys(files)

async function die(): Promise<never> {
  return await Promise.reject(new Error('it ended with code 9'))
}

function startDeadThread(): EncodeThread {
  return { encodeFile: die, compressBatch: die, end: async () => {} }
}

/** Returns a callback that acts once, after the given number of files. */
function when(done: number, act: () => void): (progress: Progress) => void {
  let isOver = false
  return ({ files: count }) => {
    if (isOver || count < done) return
    isOver = true
    act()
  }
}

describe('compressing many small files', { timeout: 30_000 }, () => {
  test('writes the same variants as this thread, and finds them in the cache later', async () => {
    vi.stubEnv('SOURCE_DATE_EPOCH', '1700000000')
    const cacheDirectory = join(await makeFolder(), 'cache')
    const folder = await makeFolder({ ...files, 'photo.png': 'no text', 'assets/photo.png': 'none either' })
    const cold = await precompress(folder, { cacheDirectory })
    const disk = await readFolder(folder)
    expect(cold.manifest.files).toHaveLength(names.length + 2)
    for (const file of cold.manifest.files) {
      const original = disk.get(file.path) ?? Buffer.alloc(0)
      expect([file.size, file.sha256]).toEqual([original.length, sha256Of(original)])
      expect(file.variants.map(({ coding }) => coding)).toEqual(file.path.endsWith('.js') ? codings : [])
      for (const { coding, sha256 } of file.variants) {
        const variant = disk.get(variantPath(file.path, coding)) ?? Buffer.alloc(0)
        expect(sha256Of(variant)).toBe(sha256)
      }
    }
    for (const name of names.filter((path) => path.endsWith('5.js'))) {
      for (const coding of codings) {
        const variant = await encode(Buffer.from(files[name] ?? ''), coding)
        expect(disk.get(variantPath(name, coding))?.equals(variant)).toBe(true)
      }
    }
    expect([cold.encodings, cold.cacheHits]).toEqual([300, 0])
    expect(cold.codecMs).toBeGreaterThan(0)
    expect(cold.written).toHaveLength(301)

    const again = await makeFolder(files)
    const warm = await precompress(again, { cacheDirectory })
    expect([warm.encodings, warm.cacheHits]).toEqual([0, 300])
    const copy = await readFolder(again)
    const variants = [...disk.keys()].filter((path) => path.includes('.js.'))
    expect(variants.map((path) => copy.get(path))).toEqual(variants.map((path) => disk.get(path)))
    vi.unstubAllEnvs()
  })

  test('keeps existing variants, and does not replace a file of the user', async () => {
    const folder = await makeFolder(files)
    await precompress(folder, { cache: false })
    writeFileSync(join(folder, '099.js.gz'), 'mine')
    unlinkSync(join(folder, '000.js.br'))
    const { written, warnings, manifest } = await precompress(folder, { cache: false })
    expect(written).toEqual(['000.js.br', '.serve-dist/manifest.json'])
    expect(warnings).toEqual([
      expect.stringMatching(
        /^099\.js\.gz is not a valid gzip variant of 099\.js, and serve-dist did not write it\. serve-dist keeps/,
      ),
    ])
    expect((await readFolder(folder)).get('099.js.gz')?.toString()).toBe('mine')
    expect(manifest.files.find(({ path }) => path === '099.js')?.variants).toHaveLength(2)
  })

  test('names all files that vanish during the compression, and leaves nothing behind', async () => {
    const folder = await makeFolder(files)
    // The smallest files come last.
    const gone = names.slice(0, 3)
    const onProgress = when(60, () => {
      for (const name of gone) unlinkSync(join(folder, name))
    })
    const failure = precompress(folder, { cache: false, onProgress })
    await expect(failure).rejects.toMatchObject({
      problems: gone.map((name) => `${name}: cannot compress this file (ENOENT: no such file or directory)`),
    })
    expect([...(await readFolder(folder)).keys()]).toEqual(names.slice(3))
  })

  test('fails for all files of a thread that exits', async () => {
    const folder = await makeFolder(files)
    const tools = { ...compressionTools, startThread: startDeadThread }
    const pass = runCompression(folder, { cache: false }, { tools })
    const failure: unknown = await pass.catch((error: unknown) => error)
    expect(failure).toMatchObject({
      problems: expect.arrayContaining(['000.js: cannot compress this file (it ended with code 9)']),
    })
    expect([...(await readFolder(folder)).keys()]).toEqual(names)
  })

  test('reports progress for each file', async () => {
    const folder = await makeFolder(files)
    const seen: Progress[] = []
    await precompress(folder, { cache: false, onProgress: (progress) => seen.push(progress) })
    expect(new Set(seen.map(({ files: count }) => count)).size).toBe(101)
    expect(seen.at(-1)).toMatchObject({ files: 100, bytes: seen[0]?.totalBytes })
  })

  test('rejects with an error of the callback', async () => {
    const folder = await makeFolder(files)
    const onProgress = when(80, () => {
      throw new RangeError('mine')
    })
    await expect(precompress(folder, { cache: false, onProgress })).rejects.toThrow(RangeError)
    expect([...(await readFolder(folder)).keys()]).toEqual(names)
  })

  test('warns once about a cache that is not writable', async () => {
    const obstacle = await makeFolder({ file: '' })
    const folder = await makeFolder(files)
    const { warnings, encodings } = await precompress(folder, {
      cacheDirectory: join(obstacle, 'file/cache'),
    })
    expect(encodings).toBe(300)
    expect(warnings).toEqual([expect.stringMatching(/cannot cache compression results for the next build/)])
  })
})
