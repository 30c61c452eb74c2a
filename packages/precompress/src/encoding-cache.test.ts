import { createHash } from 'node:crypto'
import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import cacache from 'cacache'
import { describe, expect, test, vi } from 'vitest'
import type * as EncodeModule from './encode.ts'
import { precompress, type PrecompressReport } from './precompress.ts'
import type { PrecompressOptions } from './precompress-options.ts'
import { pruneCache } from './prune-cache.ts'
import { makeFolder } from './testing/make-folder.ts'
import { readFolder } from './testing/read-folder.ts'

/** Every call of a codec in this thread, where small work stays. */
const calls = vi.hoisted(() => ({ codecs: 0 }))

vi.mock('./encode.ts', async (importOriginal) => {
  const original = await importOriginal<typeof EncodeModule>()
  return {
    ...original,
    createEncode: () => {
      const encode = original.createEncode()
      return async (...args: Parameters<EncodeModule.Encode>) => {
        calls.codecs += 1
        return await encode(...args)
      }
    },
  }
})

const script = 'export const answer = () => "forty-two";\n'.repeat(100)
const noise = Buffer.concat(
  Array.from({ length: 100 }, (_, index) => createHash('sha256').update(String(index)).digest()),
)
const build = {
  'index.html': '<!doctype html><title>page</title>\n'.repeat(60),
  'app.js': script,
  // Compressible by its name only: remembered as what does not pay.
  'noise.ttf': noise,
}

interface Pass extends PrecompressReport {
  readonly codecCalls: number
  readonly disk: ReadonlyMap<string, Buffer>
}

/** A pass over a folder of its own, as after a build that emptied it. */
async function passOver(
  files: Record<string, string | Uint8Array>,
  options: PrecompressOptions,
): Promise<Pass> {
  const folder = await makeFolder(files)
  return await pass(folder, options)
}

async function pass(folder: string, options: PrecompressOptions): Promise<Pass> {
  calls.codecs = 0
  const report = await precompress(folder, options)
  return { ...report, codecCalls: calls.codecs, disk: await readFolder(folder) }
}

async function withCache(): Promise<{ cacheDirectory: string }> {
  vi.stubEnv('SOURCE_DATE_EPOCH', '1700000000')
  return { cacheDirectory: join(await makeFolder(), 'cache') }
}

/** The files that hold results: their path contains `content-v2`. */
async function contentFiles(cacheDirectory: string): Promise<string[]> {
  const entries = await readdir(cacheDirectory, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && entry.parentPath.includes('content-v2'))
    .map((entry) => join(entry.parentPath, entry.name))
}

async function keysIn(directory: string): Promise<string[]> {
  return Object.keys(await cacache.ls(directory))
}

/** Sets all entries and the mark of the last pruning back in time. */
async function age(directory: string, milliseconds: number): Promise<void> {
  const time = Date.now() - milliseconds
  for (const { key, integrity, size, metadata } of Object.values(await cacache.ls(directory))) {
    await cacache.index.insert(directory, key, integrity, { size, metadata, time } as object)
  }
  await utimes(join(directory, 'pruned'), time / 1000, time / 1000)
}

describe('the cache', () => {
  test('makes a warm pass the same as a cold one, byte for byte, without a call of a codec', async () => {
    const options = await withCache()
    const cold = await passOver(build, options)
    const warm = await passOver(build, options)
    const without = await passOver(build, { cache: false })
    expect([cold.codecCalls, cold.cacheHits, cold.encodings]).toEqual([9, 0, 9])
    expect([warm.codecCalls, warm.cacheHits, warm.encodings]).toEqual([0, 9, 0])
    expect(without.codecCalls).toBe(9)
    expect(warm.disk).toEqual(cold.disk)
    expect(without.disk).toEqual(cold.disk)
    expect(warm.warnings).toEqual([])
  })

  test('leaves only the work of what changed', async () => {
    const options = await withCache()
    await passOver(build, options)
    const changed = await passOver({ ...build, 'app.js': `${script}//` }, options)
    expect([changed.codecCalls, changed.cacheHits]).toEqual([3, 6])
  })

  test('knows content under any name, and does not read results that are in place', async () => {
    const options = await withCache()
    const folder = await makeFolder(build)
    await pass(folder, options)
    const renamed = await passOver({ 'other.js': script }, options)
    expect(renamed.codecCalls).toBe(0)
    for (const file of await contentFiles(options.cacheDirectory)) await rm(file)
    const again = await pass(folder, options)
    expect([again.codecCalls, again.cacheHits, again.written]).toEqual([0, 9, []])
  })

  test('adds a coding to what it knows of a file', async () => {
    const options = await withCache()
    await passOver(build, { ...options, codings: ['gzip'] })
    expect((await passOver(build, { ...options, codings: ['gzip', 'br'] })).codecCalls).toBe(3)
    expect((await passOver(build, { ...options, codings: ['zstd'] })).codecCalls).toBe(3)
    expect((await passOver(build, options)).codecCalls).toBe(0)
  })

  test('misses what another codec made', async () => {
    const options = await withCache()
    const cold = await passOver(build, options)
    for (const entry of Object.values(await cacache.ls(options.cacheDirectory))) {
      const metadata: unknown = JSON.parse(JSON.stringify(entry.metadata).replaceAll('brotli/', 'brotli/0'))
      await cacache.index.insert(options.cacheDirectory, entry.key, entry.integrity, {
        size: entry.size,
        metadata,
      })
    }
    const warm = await passOver(build, options)
    expect(warm.codecCalls).toBe(3)
    expect(warm.disk).toEqual(cold.disk)
  })

  test.each([
    ['cut short', (bytes: Buffer) => bytes.subarray(0, -1)],
    ['empty', () => Buffer.alloc(0)],
    [
      'changed in one bit',
      (bytes: Buffer) => Buffer.from(bytes.map((byte, at) => (at === 9 ? byte ^ 1 : byte))),
    ],
    ['another entry’s', () => Buffer.from(script)],
  ])('takes content that is %s for a miss, and mends it', async (_name, damage) => {
    const options = await withCache()
    const cold = await passOver(build, options)
    for (const file of await contentFiles(options.cacheDirectory)) {
      await writeFile(file, damage(await readFile(file)))
    }
    const warm = await passOver(build, options)
    // What does not pay has no bytes to lose.
    expect([warm.codecCalls, warm.cacheHits]).toEqual([6, 3])
    expect(warm.disk).toEqual(cold.disk)
    expect((await passOver(build, options)).codecCalls).toBe(0)
  })

  test('takes an index that is damaged for a miss', async () => {
    const options = await withCache()
    const cold = await passOver(build, options)
    const entries = await readdir(options.cacheDirectory, { recursive: true, withFileTypes: true })
    for (const entry of entries) {
      if (entry.isFile() && entry.parentPath.includes('index-v5')) {
        const file = join(entry.parentPath, entry.name)
        await writeFile(file, (await readFile(file, 'utf8')).replace('"size"', '"siye"'))
      }
    }
    const warm = await passOver(build, options)
    expect(warm.codecCalls).toBe(9)
    expect(warm.disk).toEqual(cold.disk)
  })

  test('serves two builds at once', async () => {
    const options = await withCache()
    const folders = await Promise.all(Array.from({ length: 6 }, async () => await makeFolder(build)))
    const reports = await Promise.all(folders.map(async (folder) => await precompress(folder, options)))
    const disks = await Promise.all(folders.map(readFolder))
    for (const disk of disks) expect(disk).toEqual(disks[0])
    expect(reports.flatMap(({ warnings }) => warnings)).toEqual([])
    expect((await passOver(build, options)).codecCalls).toBe(0)
  })

  test('that cannot be written is one warning, and no failure', async () => {
    const folder = await makeFolder({ file: '' })
    const { warnings, codecCalls } = await passOver(build, { cacheDirectory: join(folder, 'file/cache') })
    expect(codecCalls).toBe(9)
    expect(warnings).toEqual([expect.stringMatching(/results cannot be kept for the next build/)])
  })

  test('stands beside the nearest package.json above the folder', async () => {
    const root = await makeFolder({
      'package.json': '{}',
      'app/dist/app.js': script,
      'app/dist/package.json': '{}',
    })
    await precompress(join(root, 'app/dist'))
    expect((await contentFiles(join(root, 'node_modules/.cache/serve-dist'))).length).toBe(1)
  })
})

describe('pruning the cache', () => {
  const month = 30 * 24 * 60 * 60 * 1000

  test('removes what was not used for 30 days, and keeps what was', async () => {
    const options = await withCache()
    await passOver(build, options)
    await age(options.cacheDirectory, month * 1.1)
    await passOver({ 'app.js': script }, options)
    await vi.waitFor(async () => {
      expect(await keysIn(options.cacheDirectory)).toHaveLength(1)
      expect(await contentFiles(options.cacheDirectory)).toHaveLength(1)
    })
    expect((await passOver({ 'app.js': script }, options)).codecCalls).toBe(0)
  })

  test('removes what is above the size', async () => {
    const options = await withCache()
    const { cacheDirectory } = options
    await passOver({ 'app.js': script, 'index.html': build['index.html'] }, options)
    await age(cacheDirectory, month / 2)
    // Used again: this entry is the younger one now.
    await passOver({ 'index.html': build['index.html'] }, options)
    const entries = Object.values(await cacache.ls(cacheDirectory))
    const [youngest] = entries.toSorted((a, b) => b.time - a.time)
    await pruneCache(cacheDirectory, { size: youngest?.size ?? 0, bytesAdded: 1e6 })
    expect(await keysIn(cacheDirectory)).toEqual([youngest?.key])
    expect(await contentFiles(cacheDirectory)).toHaveLength(1)
    expect((await passOver({ 'index.html': build['index.html'] }, options)).codecCalls).toBe(0)
  })
})
