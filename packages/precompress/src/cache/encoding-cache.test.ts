import { createHash } from 'node:crypto'
import { copyFile, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { type Encode, encode } from '../codecs/encode.ts'
import {
  compressionTools,
  precompress,
  type PrecompressReport,
  runCompression,
} from '../compression/precompress.ts'
import type { PrecompressOptions } from '../precompress-options.ts'
import { pruneCache } from './prune-cache.ts'
import { makeFolder } from '../../test/support/make-folder.ts'
import { readFolder } from '../../test/support/read-folder.ts'

const script = 'export const answer = () => "forty-two";\n'.repeat(100)
const noise = Buffer.concat(
  Array.from({ length: 100 }, (_, index) => createHash('sha256').update(String(index)).digest()),
)
const build = {
  'index.html': '<!doctype html><title>page</title>\n'.repeat(60),
  'app.js': script,
  // Random bytes do not compress, but the name suggests text. The file gets no variant.
  'noise.ttf': noise,
}

interface Compression extends PrecompressReport {
  readonly codecCalls: number
  readonly disk: ReadonlyMap<string, Buffer>
}

/** Compresses a new folder, as after a build that emptied it. */
async function compressFiles(
  files: Record<string, string | Uint8Array>,
  options: PrecompressOptions,
): Promise<Compression> {
  const folder = await makeFolder(files)
  return await pass(folder, options)
}

async function pass(folder: string, options: PrecompressOptions): Promise<Compression> {
  let codecCalls = 0
  // Small work stays in this thread, so this counter sees every call.
  const countedEncode: Encode = async (bytes, coding) => {
    codecCalls += 1
    return await encode(bytes, coding)
  }
  const report = await runCompression(folder, options, {
    tools: { ...compressionTools, encode: countedEncode },
  })
  return { ...report, codecCalls, disk: await readFolder(folder) }
}

async function withCache(): Promise<{ cacheDirectory: string }> {
  vi.stubEnv('SOURCE_DATE_EPOCH', '1700000000')
  return { cacheDirectory: join(await makeFolder(), 'cache') }
}

/** Lists the files of all entries. */
async function entryFiles(cacheDirectory: string): Promise<string[]> {
  const names = await readdir(join(cacheDirectory, 'entries-1'), { recursive: true, withFileTypes: true })
  return names.filter((name) => name.isFile()).map((name) => join(name.parentPath, name.name))
}

/** Changes the head and the results of every entry. */
async function rewrite(
  cacheDirectory: string,
  change: (head: string, results: Buffer) => readonly [string, Buffer],
): Promise<void> {
  for (const file of await entryFiles(cacheDirectory)) {
    const bytes = await readFile(file)
    const end = bytes.indexOf('\n') + 1
    const [head, results] = change(bytes.toString('utf8', 0, end), bytes.subarray(end))
    await writeFile(file, Buffer.concat([Buffer.from(head), results]))
  }
}

/** Sets the times of all entries and of the last pruning back. */
async function age(directory: string, milliseconds: number): Promise<void> {
  const time = (Date.now() - milliseconds) / 1000
  for (const file of [...(await entryFiles(directory)), join(directory, 'pruned')]) {
    await utimes(file, time, time)
  }
}

describe('the cache', () => {
  test('gives the same bytes as a compression without it, and calls no codec', async () => {
    const options = await withCache()
    const cold = await compressFiles(build, options)
    const warm = await compressFiles(build, options)
    const without = await compressFiles(build, { cache: false })
    expect([cold.codecCalls, cold.cacheHits, cold.encodings]).toEqual([9, 0, 9])
    expect([warm.codecCalls, warm.cacheHits, warm.encodings]).toEqual([0, 6, 0])
    expect(without.codecCalls).toBe(9)
    expect(warm.disk).toEqual(cold.disk)
    expect(without.disk).toEqual(cold.disk)
    expect(warm.warnings).toEqual([])
  })

  test('encodes changed files only', async () => {
    const options = await withCache()
    await compressFiles(build, options)
    const changed = await compressFiles({ ...build, 'app.js': `${script}//` }, options)
    expect([changed.codecCalls, changed.cacheHits]).toEqual([3, 3])
  })

  test('finds content under any name, and does not read results that are already in the folder', async () => {
    const options = await withCache()
    const folder = await makeFolder(build)
    await pass(folder, options)
    const renamed = await compressFiles({ 'other.js': script }, options)
    expect(renamed.codecCalls).toBe(0)
    await rewrite(options.cacheDirectory, (head) => [head, Buffer.alloc(0)])
    const again = await pass(folder, options)
    expect([again.codecCalls, again.cacheHits, again.written]).toEqual([0, 6, []])
  })

  test('adds a coding to the entry of a file', async () => {
    const options = await withCache()
    await compressFiles(build, { ...options, codings: ['gzip'] })
    expect((await compressFiles(build, { ...options, codings: ['gzip', 'br'] })).codecCalls).toBe(3)
    expect((await compressFiles(build, { ...options, codings: ['zstd'] })).codecCalls).toBe(3)
    expect((await compressFiles(build, options)).codecCalls).toBe(0)
  })

  test('does not use the result of another codec version', async () => {
    const options = await withCache()
    const cold = await compressFiles(build, options)
    await rewrite(options.cacheDirectory, (head, results) => {
      const text = head.slice(65, -1).replaceAll('brotli/', 'brotli/0')
      return [`${createHash('sha256').update(text).digest('hex')} ${text}\n`, results]
    })
    const warm = await compressFiles(build, options)
    expect(warm.codecCalls).toBe(3)
    expect(warm.disk).toEqual(cold.disk)
  })

  test.each([
    ['cut short', (bytes: Buffer) => bytes.subarray(0, -1), 2],
    ['empty', () => Buffer.alloc(0), 6],
    [
      'changed in one bit',
      (bytes: Buffer) => Buffer.from(bytes.map((byte, at) => (at === 9 ? byte ^ 1 : byte))),
      2,
    ],
    ['from another entry', () => Buffer.from(script), 6],
  ])('repairs content that is %s', async (_name, damage, lost) => {
    const options = await withCache()
    const cold = await compressFiles(build, options)
    await rewrite(options.cacheDirectory, (head, results) => [head, damage(results)])
    const warm = await compressFiles(build, options)
    // Each result is verified on its own. Results that are not worth keeping have no bytes.
    expect([warm.codecCalls, warm.cacheHits]).toEqual([lost, 6 - lost])
    expect(warm.disk).toEqual(cold.disk)
    expect((await compressFiles(build, options)).codecCalls).toBe(0)
  })

  test.each([
    ['has another size', (head: string) => head.replace('"size":', '"size":1')],
    ['is not a valid head', () => '{}\n'],
    ['is cut off', () => ''],
  ])('repairs an entry whose head %s', async (_name, damage) => {
    const options = await withCache()
    const cold = await compressFiles(build, options)
    await rewrite(options.cacheDirectory, (head, results) => [damage(head), results])
    const warm = await compressFiles(build, options)
    expect(warm.codecCalls).toBe(9)
    expect(warm.disk).toEqual(cold.disk)
    expect((await compressFiles(build, options)).codecCalls).toBe(0)
  })

  test('repairs an entry that is a copy of another one', async () => {
    const options = await withCache()
    const cold = await compressFiles(build, options)
    const [first = '', ...others] = await entryFiles(options.cacheDirectory)
    for (const other of others) await copyFile(first, other)
    const warm = await compressFiles(build, options)
    expect(warm.codecCalls).toBe(6)
    expect(warm.disk).toEqual(cold.disk)
    expect((await compressFiles(build, options)).codecCalls).toBe(0)
  })

  test('does not use an entry without the digest of its original, as earlier releases wrote it', async () => {
    const options = await withCache()
    await compressFiles(build, options)
    await rewrite(options.cacheDirectory, (head, results) => {
      const text = head.slice(head.indexOf('['), -2)
      return [`${createHash('sha256').update(text).digest('hex')} ${text}\n`, results]
    })
    expect((await compressFiles(build, options)).codecCalls).toBe(9)
    expect((await compressFiles(build, options)).codecCalls).toBe(0)
  })

  test('leaves no temporary files', async () => {
    const options = await withCache()
    await compressFiles(build, options)
    const names = (await entryFiles(options.cacheDirectory)).map((file) => file.slice(-62))
    expect(names).toEqual([
      expect.stringMatching(/^[0-9a-f]{62}$/),
      expect.stringMatching(/^[0-9a-f]{62}$/),
      expect.stringMatching(/^[0-9a-f]{62}$/),
    ])
  })

  test('reads results that are larger than the first read', async () => {
    const options = await withCache()
    const lines = Array.from({ length: 800 }, (_, line) =>
      createHash('sha256').update(String(line)).digest('hex'),
    )
    const large = { 'large.js': lines.join('\n') }
    const cold = await compressFiles(large, options)
    const warm = await compressFiles(large, options)
    expect([warm.codecCalls, warm.cacheHits]).toEqual([0, 3])
    expect(warm.disk).toEqual(cold.disk)
  })

  test('serves concurrent builds', async () => {
    const options = await withCache()
    const folders = await Promise.all(Array.from({ length: 6 }, async () => await makeFolder(build)))
    const reports = await Promise.all(folders.map(async (folder) => await precompress(folder, options)))
    const disks = await Promise.all(folders.map(readFolder))
    for (const disk of disks) expect(disk).toEqual(disks[0])
    expect(reports.flatMap(({ warnings }) => warnings)).toEqual([])
    expect((await compressFiles(build, options)).codecCalls).toBe(0)
  })

  test.each(['file', 'file/cache'])('warns once if it cannot write to its folder', async (path) => {
    const folder = await makeFolder({ file: '' })
    const { warnings, codecCalls } = await compressFiles(build, { cacheDirectory: join(folder, path) })
    expect(codecCalls).toBe(9)
    expect(warnings).toEqual([expect.stringMatching(/cannot cache compression results for the next build/)])
  })

  test('is next to the nearest package.json above the folder', async () => {
    const root = await makeFolder({
      'package.json': '{}',
      'app/dist/app.js': script,
      'app/dist/package.json': '{}',
    })
    await precompress(join(root, 'app/dist'))
    expect((await entryFiles(join(root, 'node_modules/.cache/serve-dist'))).length).toBe(1)
  })
})

describe('pruneCache', () => {
  const month = 30 * 24 * 60 * 60 * 1000

  test('removes entries that were not used for 30 days, and keeps others', async () => {
    const options = await withCache()
    await compressFiles(build, options)
    await age(options.cacheDirectory, month * 1.1)
    await compressFiles({ 'app.js': script }, options)
    await vi.waitFor(async () => expect(await entryFiles(options.cacheDirectory)).toHaveLength(1))
    expect((await compressFiles({ 'app.js': script }, options)).codecCalls).toBe(0)
  })

  test('removes the least recently used entries above the size limit', async () => {
    const options = await withCache()
    const { cacheDirectory } = options
    await compressFiles({ 'app.js': script, 'index.html': build['index.html'] }, options)
    await age(cacheDirectory, month / 2)
    // This use makes the entry the more recent one.
    await compressFiles({ 'index.html': build['index.html'] }, options)
    const found = await Promise.all((await entryFiles(cacheDirectory)).map(async (file) => await stat(file)))
    const [youngest] = found.toSorted((a, b) => b.mtimeMs - a.mtimeMs)
    await pruneCache(cacheDirectory, { size: youngest?.size ?? 0, bytesAdded: 1e6 })
    expect(await entryFiles(cacheDirectory)).toHaveLength(1)
    expect((await compressFiles({ 'index.html': build['index.html'] }, options)).codecCalls).toBe(0)
  })
})
