import { cp, readFile, rm, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { compress as zstdCompress } from '@mongodb-js/zstd'
import { type Manifest, manifestPath, parseManifest, stringifyManifest } from '@serve-dist/manifest'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addFiles, makeFolder } from '../../test/support/make-folder.ts'
import { readFolder } from '../../test/support/read-folder.ts'
import { markUnfinished } from '../commit/build-writer.ts'
import { precompress, type PrecompressReport } from './precompress.ts'

const script = 'export const answer = () => "forty-two";\n'.repeat(100)
/** Differs from the bytes that serve-dist writes. */
const foreignGzip = gzipSync(script, { level: 1 })
const foreignBrotli = brotliCompressSync(script, { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } })

async function pass(folder: string): Promise<PrecompressReport> {
  return await precompress(folder, { durable: false })
}

function codingsOf({ files }: Manifest): Record<string, string[]> {
  return Object.fromEntries(files.map(({ path, variants }) => [path, variants.map(({ coding }) => coding)]))
}

describe('precompress of a sibling that another program wrote', () => {
  test('uses it as a variant and lists it as a file if it decodes to its original', async () => {
    const foreignZstd = await zstdCompress(Buffer.from(script), 3)
    const foreign = { 'a.js.br': foreignBrotli, 'a.js.gz': foreignGzip, 'a.js.zst': foreignZstd }
    const folder = await makeFolder({ 'a.js': script, ...foreign })
    const { manifest, warnings, written } = await pass(folder)
    expect(codingsOf(manifest)).toEqual({
      'a.js': ['zstd', 'br', 'gzip'],
      'a.js.br': [],
      'a.js.gz': [],
      'a.js.zst': [],
    })
    expect([warnings, written]).toEqual([[], [manifestPath]])
    expect(parseManifest(stringifyManifest(manifest))).toEqual(manifest)
    const disk = await readFolder(folder)
    for (const [path, bytes] of Object.entries(foreign)) expect(disk.get(path)).toEqual(Buffer.from(bytes))
    expect((await pass(folder)).written).toEqual([])
  })

  test('never replaces or removes it, even if its original changes', async () => {
    const folder = await makeFolder({ 'a.js': script, 'a.js.gz': foreignGzip })
    expect(codingsOf((await pass(folder)).manifest)).toEqual({
      'a.js': ['zstd', 'br', 'gzip'],
      'a.js.gz': [],
    })
    const holds = async (): Promise<void> => {
      expect(await readFile(join(folder, 'a.js.gz'))).toEqual(foreignGzip)
    }
    // The original changes, then disappears, also after a build that was killed.
    await writeFile(join(folder, 'a.js'), `${script}//`)
    const changed = await pass(folder)
    expect(codingsOf(changed.manifest)).toEqual({ 'a.js': ['zstd', 'br'], 'a.js.gz': [] })
    expect(changed.warnings).toEqual([
      expect.stringMatching(
        /^a\.js\.gz is not a valid gzip variant of a\.js, and serve-dist did not write it\. serve-dist keeps/,
      ),
    ])
    await holds()
    await writeFile(join(folder, 'a.js'), script)
    await pass(folder)
    await markUnfinished(folder)
    await unlink(join(folder, 'a.js'))
    const gone = await pass(folder)
    expect(gone.removed).toEqual(['a.js.br', 'a.js.zst'])
    expect(codingsOf(gone.manifest)).toEqual({ 'a.js.gz': [] })
    await holds()
  })

  test('does not use an excluded sibling as a variant', async () => {
    const folder = await makeFolder({ 'a.js': script, 'a.js.gz': foreignGzip })
    await pass(folder)
    const { manifest } = await precompress(folder, { exclude: ['**/*.gz'], durable: false })
    expect(codingsOf(manifest)).toEqual({ 'a.js': ['zstd', 'br'] })
    expect(await readFile(join(folder, 'a.js.gz'))).toEqual(foreignGzip)
  })

  test('does not use it as a variant if the original is unsuitable or the saving too small', async () => {
    const noise = Buffer.from(Array.from({ length: 400 }, (_, index) => (index * index * 7919) % 251))
    const folder = await makeFolder({
      'small.js': 'x',
      'small.js.gz': gzipSync('x'),
      'image.png': script,
      'image.png.gz': foreignGzip,
      'noise.js': noise,
      'noise.js.gz': gzipSync(noise, { level: 0 }),
    })
    const { manifest, warnings } = await pass(folder)
    expect(codingsOf(manifest)['noise.js']).not.toContain('gzip')
    expect(codingsOf(manifest)).toMatchObject({ 'small.js': [], 'image.png': [], 'noise.js.gz': [] })
    expect(warnings).toEqual([])
  })

  test.each([
    ['of other content', async () => await zstdCompress(Buffer.from(`${script} `), 3)],
    ['that is truncated', async () => (await zstdCompress(Buffer.from(script), 3)).subarray(0, -5)],
    ['that is not a frame', async () => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3])],
    [
      'that browsers reject because of a window of 16 MiB',
      async () => {
        const frame = Buffer.from(await zstdCompress(Buffer.from(script), 3))
        // The same frame with a window descriptor (RFC 8878 §3.1.1.1.2) instead of a single segment.
        const sizeLength = [1, 2, 4, 8][frame.readUInt8(4) >> 6] ?? 0
        const size = Buffer.alloc(8)
        size.writeBigUInt64LE(BigInt(script.length))
        const rest = frame.subarray(5 + sizeLength)
        return Buffer.concat([frame.subarray(0, 4), Buffer.from([0xc0, 14 << 3]), size, rest])
      },
    ],
  ])('rejects zstd %s', async (_what, make) => {
    const folder = await makeFolder({ 'a.js': script, 'a.js.zst': await make() })
    const { manifest, warnings } = await pass(folder)
    expect(codingsOf(manifest)).toEqual({ 'a.js': ['br', 'gzip'], 'a.js.zst': [] })
    expect(warnings).toHaveLength(1)
  })
})

const contents: Readonly<Record<string, readonly (string | Uint8Array)[]>> = {
  'a.js': [script, `${script}//`],
  'a.js.gz': [foreignGzip, 'no code'],
  'a.js.br': [foreignBrotli],
  'a.js.br.gz': [gzipSync(foreignBrotli)],
}
const paths = fc.constantFrom(...Object.keys(contents))
const step = fc.oneof(
  fc.record({ write: paths, choice: fc.nat(1) }),
  fc.record({ remove: paths }),
  fc.record({ run: fc.constantFrom('pass', 'pass', 'pass', 'build', 'lose') }),
)

/** Compresses the folder and expects that all files of the user are unchanged and in the manifest. */
async function expectTheirs(folder: string, theirs: ReadonlyMap<string, Buffer>): Promise<void> {
  const { manifest } = await precompress(folder, { cache: false, durable: false })
  const disk = await readFolder(folder)
  for (const [path, bytes] of theirs) expect([path, disk.get(path)?.equals(bytes)]).toEqual([path, true])
  const listed = manifest.files.map(({ path }) => path)
  expect(listed).toEqual(expect.arrayContaining([...theirs.keys()]))
}

describe('files of other programs', () => {
  test('survive every compression in any sequence of changes', async () => {
    expect.hasAssertions()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 14 }), async (steps) => {
        const folder = await makeFolder()
        const theirs = new Map<string, Buffer>()
        for (const each of [...steps, { run: 'pass' }]) {
          if ('write' in each) {
            const all = contents[each.write] ?? []
            const content = all[each.choice] ?? all[0] ?? ''
            await writeFile(join(folder, each.write), content)
            theirs.set(each.write, Buffer.from(content))
          } else if ('remove' in each) {
            await rm(join(folder, each.remove), { force: true })
            theirs.delete(each.remove)
          } else if (each.run === 'build') await markUnfinished(folder)
          else if (each.run === 'lose')
            await rm(join(folder, '.serve-dist'), { recursive: true, force: true })
          else await expectTheirs(folder, theirs)
        }
      }),
      { numRuns: 100 },
    )
  })
})

describe('precompress of a copied variant of serve-dist', () => {
  test('recognizes the variant by the cache, without a manifest', async () => {
    const root = await makeFolder({ 'package.json': '{}' })
    const folder = join(root, 'dist')
    const copy = join(root, 'public')
    await addFiles(folder, { 'a.js': script })
    const { manifest } = await pass(folder)
    await cp(folder, copy, { recursive: true })
    await rm(join(copy, '.serve-dist'), { recursive: true })
    const copied = await pass(copy)
    expect(copied.manifest.buildId).toBe(manifest.buildId)
    expect([copied.warnings, copied.written]).toEqual([[], [manifestPath]])
    await unlink(join(copy, 'a.js'))
    expect((await pass(copy)).removed).toEqual(['a.js.br', 'a.js.gz', 'a.js.zst'])
  })
})
