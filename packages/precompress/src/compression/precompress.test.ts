import { appendFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import {
  manifestPath,
  parseManifest,
  pendingPath,
  stringifyManifest,
  variantPath,
} from '@serve-dist/manifest'
import { describe, expect, test, vi } from 'vitest'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import type { EncodeThread } from '../encode/start-encode-thread.ts'
import { compressionTools, precompress, runCompression } from './precompress.ts'
import type { Progress } from '../precompress-options.ts'
import { decode } from '../../test/support/decode.ts'
import { addFiles, makeFolder } from '../../test/support/make-folder.ts'
import { problemsOf } from '../../test/support/problems-of.ts'
import { readFolder } from '../../test/support/read-folder.ts'

const script = 'export const answer = () => "forty-two";\n'.repeat(100)
const otherScript = script.replaceAll('forty', 'fifty')
const page = '<!doctype html><title>page</title>\n'.repeat(60)
const noise = Buffer.from(Array.from({ length: 4000 }, (_, index) => (index * index * 7919) >> 3))

const build = {
  'index.html': page,
  'assets/app-B1x.js': script,
  'assets/größe [1] +%20.js': otherScript,
  'assets/photo.png': noise,
  'small.txt': 'small',
  'empty.css': '',
}

const variantsToo = ['app.js', 'app.js.br', 'app.js.gz', 'app.js.zst']

describe('precompress', () => {
  test('describes every file, and every variant decodes to its original', async () => {
    const folder = await makeFolder(build)
    const { manifest, warnings, written, directory } = await precompress(folder)
    const disk = await readFolder(folder)
    expect(directory).toBe(folder)
    expect(warnings).toEqual([])
    expect(disk.get(manifestPath)?.toString()).toBe(stringifyManifest(manifest))
    expect(parseManifest(stringifyManifest(manifest))).toEqual(manifest)
    expect(manifest.files.map(({ path }) => path)).toEqual(Object.keys(build).toSorted())

    const named: string[] = [manifestPath]
    for (const file of manifest.files) {
      const original = disk.get(file.path)
      expect(original).toBeDefined()
      expect([file.size, file.sha256]).toEqual([original?.length, sha256Of(original ?? '')])
      named.push(file.path)
      for (const { coding, size, sha256 } of file.variants) {
        const encoded = disk.get(variantPath(file.path, coding)) ?? Buffer.alloc(0)
        expect([size, sha256]).toEqual([encoded.length, sha256Of(encoded)])
        expect(await decode(encoded, coding)).toEqual(original)
        named.push(variantPath(file.path, coding))
      }
    }
    expect([...disk.keys()]).toEqual(named.toSorted())
    expect(written.toSorted()).toEqual(named.filter((path) => !(path in build)).toSorted())
  })

  test('makes variants of files that are large and compressible enough', async () => {
    const folder = await makeFolder(build)
    const { manifest } = await precompress(folder)
    const withVariants = manifest.files.filter(({ variants }) => variants.length > 0)
    expect(withVariants.map(({ path }) => path)).toEqual([
      'assets/app-B1x.js',
      'assets/größe [1] +%20.js',
      'index.html',
    ])
    expect(withVariants.map(({ variants }) => variants.map(({ coding }) => coding))).toEqual([
      ['zstd', 'br', 'gzip'],
      ['zstd', 'br', 'gzip'],
      ['zstd', 'br', 'gzip'],
    ])
  })

  test('applies its options', async () => {
    const folder = await makeFolder({ ...build, 'drafts/x.html': page })
    const { manifest } = await precompress(folder, {
      exclude: ['drafts/**'],
      codings: ['gzip', 'br'],
      minimumSize: 3000,
      base: '/app/',
      assetsDirectory: 'assets',
      isHashed: (path) => path === 'assets/app-B1x.js',
      bytesInFlight: 1,
    })
    expect(manifest).toMatchObject({ base: '/app/', appType: 'spa', assetsDirectory: 'assets' })
    expect(manifest.files.filter(({ cache }) => cache === 'immutable').map(({ path }) => path)).toEqual([
      'assets/app-B1x.js',
    ])
    expect(manifest.files.flatMap(({ variants }) => variants.map(({ coding }) => coding))).toEqual([
      'br',
      'gzip',
      'br',
      'gzip',
    ])
    expect(await readFolder(folder)).not.toContain('drafts/x.html.br')
  })

  test('limits the originals of variants in memory to `bytesInFlight`', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `${index}.js`)
    const folder = await makeFolder(Object.fromEntries(names.map((name) => [name, script.repeat(20) + name])))
    const begun = new Set<string>()
    let filesDone = 0
    let most = 0
    const startThread = (): EncodeThread => ({
      encodeFile: async ({ path }) => {
        begun.add(path)
        most = Math.max(most, begun.size - filesDone)
        await setImmediate()
        return { encoded: new Uint8Array(1), milliseconds: 0 }
      },
      compressBatch: async () => await Promise.reject(new Error('no file is small')),
      end: async () => {},
    })
    // Enough for two files of 82 kB.
    const options = { bytesInFlight: 200_000, cache: false, onProgress: noteProgress }
    function noteProgress({ files }: Progress): void {
      filesDone = files
    }
    const { encodings } = await runCompression(folder, options, {
      tools: { ...compressionTools, startThread },
    })
    expect(encodings).toBe(36)
    expect(begun.size).toBeGreaterThan(2)
    expect(most).toBeLessThanOrEqual(2)
  })

  test('sets `mpa` for a build with several pages', async () => {
    const folder = await makeFolder({ 'index.html': page, 'about.html': page })
    expect((await precompress(folder)).manifest.appType).toBe('mpa')
    expect((await precompress(folder, { appType: 'custom' })).manifest.appType).toBe('custom')
  })

  test('describes a folder without files, and warns', async () => {
    const folder = await makeFolder()
    const { manifest, warnings } = await precompress(folder)
    expect(manifest.files).toEqual([])
    expect(warnings).toEqual([
      expect.stringContaining('the folder contains no file that the server can send'),
    ])
    expect(parseManifest(await readFile(join(folder, manifestPath), 'utf8')).files).toEqual([])
  })

  test('warns about patterns that exclude all files', async () => {
    const { warnings } = await precompress(await makeFolder(build), { exclude: ['**'] })
    expect(warnings).toEqual([expect.stringContaining('"include" and "exclude" select no file')])
  })

  test('writes identical manifests and variants for two folders with the same files', async () => {
    vi.stubEnv('SOURCE_DATE_EPOCH', '1700000000')
    const folders = [await makeFolder(build), await makeFolder(build)] as const
    await Promise.all(folders.map(async (folder) => await precompress(folder)))
    expect(await readFolder(folders[0])).toEqual(await readFolder(folders[1]))
    expect(await readFile(join(folders[0], manifestPath), 'utf8')).toContain(
      '"lastModified":"2023-11-14T22:13:20Z"',
    )
    vi.unstubAllEnvs()
  })

  test('reports progress from the start to the end', async () => {
    const folder = await makeFolder(build)
    const seen: Progress[] = []
    await precompress(folder, { onProgress: (progress) => seen.push(progress) })
    const totals = { totalFiles: 6, totalBytes: page.length + script.length * 2 + noise.length + 5 }
    expect(seen[0]).toEqual({ files: 0, bytes: 0, ...totals })
    expect([...new Set(seen.map(({ files }) => files))]).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(seen.map(({ bytes }) => bytes)).toEqual(seen.map(({ bytes }) => bytes).toSorted((a, b) => a - b))
    // Progress changes after each of the nine variants.
    expect(new Set(seen.map(({ bytes }) => bytes)).size).toBeGreaterThan(9)
    expect(seen.at(-1)).toEqual({ files: 6, bytes: totals.totalBytes, ...totals })
  })
})

describe('precompress of a folder that was compressed before', () => {
  test('writes nothing if nothing changed', async () => {
    const folder = await makeFolder(build)
    await precompress(folder)
    const before = await timesOf(folder)
    const { written, removed } = await precompress(folder)
    expect([written, removed]).toEqual([[], []])
    expect(await timesOf(folder)).toEqual(before)
  })

  test('keeps the times of unchanged content', async () => {
    const folder = await makeFolder(build)
    await precompress(folder)
    const path = join(folder, manifestPath)
    const past = '2020-02-02T02:02:02Z'
    await writeFile(
      path,
      (await readFile(path, 'utf8')).replaceAll(/"lastModified":"[^"]+"/g, `"lastModified":"${past}"`),
    )
    expect((await precompress(folder)).manifest.lastModified).toBe(past)

    await writeFile(join(folder, 'index.html'), `${page}!`)
    const { manifest } = await precompress(folder)
    expect(manifest.lastModified).not.toBe(past)
    expect(
      manifest.files.filter(({ lastModified }) => lastModified !== past).map((file) => file.path),
    ).toEqual(['index.html'])
  })

  test('replaces variants of changed files, and removes those of deleted files', async () => {
    const folder = await makeFolder(build)
    await precompress(folder)
    await writeFile(join(folder, 'index.html'), page.replaceAll('page', 'side'))
    await unlink(join(folder, 'assets/app-B1x.js'))
    await addFiles(folder, { 'assets/app-C2y.js': `${script}//` })
    const { removed, written } = await precompress(folder)
    expect(removed).toEqual(['assets/app-B1x.js.br', 'assets/app-B1x.js.gz', 'assets/app-B1x.js.zst'])
    expect(written).toEqual([
      'assets/app-C2y.js.br',
      'assets/app-C2y.js.gz',
      'assets/app-C2y.js.zst',
      'index.html.br',
      'index.html.gz',
      'index.html.zst',
      manifestPath,
    ])
    await expectSameAsFresh(folder)
  })

  test('removes variants of files that are no longer selected', async () => {
    const folder = await makeFolder(build)
    await precompress(folder)
    const { removed, manifest } = await precompress(folder, { codings: ['br'], exclude: ['index.html'] })
    expect(removed.filter((path) => path.startsWith('index'))).toHaveLength(3)
    expect(removed).toContain('assets/app-B1x.js.gz')
    expect(removed).not.toContain('assets/app-B1x.js.br')
    expect(manifest.files.flatMap(({ variants }) => variants)).toHaveLength(2)
  })

  test('never changes a .gz, .br or .zst file of the user', async () => {
    const own = { 'data.csv': page, 'data.csv.gz': noise, 'model.bin.zst': noise, 'x.js.br': 'mine' }
    const folder = await makeFolder(own)
    const first = await precompress(folder)
    expect(first.manifest.files.map(({ path, variants }) => [path, variants.length])).toEqual([
      ['data.csv', 2],
      ['data.csv.gz', 0],
      ['model.bin.zst', 0],
      ['x.js.br', 0],
    ])
    expect(first.warnings).toEqual([
      expect.stringMatching(/^data\.csv\.gz is not a valid gzip variant of data\.csv, and/),
    ])
    await unlink(join(folder, 'data.csv'))
    expect((await precompress(folder)).removed).toEqual(['data.csv.br', 'data.csv.zst'])
    const disk = await readFolder(folder)
    expect(disk.get('data.csv.gz')).toEqual(noise)
    expect(disk.get('x.js.br')?.toString()).toBe('mine')
  })

  test('does not overwrite an excluded file', async () => {
    const folder = await makeFolder({ 'data.csv': page, 'data.csv.gz': 'mine' })
    await precompress(folder, { exclude: ['*.gz'] })
    expect(await readFile(join(folder, 'data.csv.gz'), 'utf8')).toBe('mine')
  })

  test('treats an overwritten variant as a file of the user', async () => {
    const folder = await makeFolder({ 'a.js': script })
    await precompress(folder)
    await writeFile(join(folder, 'a.js.gz'), 'mine')
    const { manifest, removed } = await precompress(folder)
    expect(removed).toEqual([])
    expect(manifest.files.map(({ path, variants }) => [path, variants.length])).toEqual([
      ['a.js', 2],
      ['a.js.gz', 0],
    ])
    expect(await readFile(join(folder, 'a.js.gz'), 'utf8')).toBe('mine')
  })

  test.skipIf(process.platform === 'win32')('excludes a link to a variant of its own', async () => {
    const folder = await makeFolder({ 'a.js': script })
    await precompress(folder)
    await symlink('a.js.br', join(folder, 'latest.br'))
    await writeFile(join(folder, 'a.js'), otherScript)
    const { manifest, warnings } = await precompress(folder)
    expect(manifest.files.map(({ path }) => path)).toEqual(['a.js'])
    expect(warnings).toEqual([
      expect.stringMatching(/^cannot include latest\.br: it is a symlink to a variant/),
    ])
    expect((await precompress(folder)).manifest).toEqual(manifest)
  })

  test('removes nothing outside the folder or through a link', async () => {
    const root = await makeFolder({ 'dist/assets/app.js': script, 'dist/other/app.js': script })
    const folder = join(root, 'dist')
    await precompress(folder)
    await rename(join(folder, 'assets'), join(root, 'live'))
    await symlink(join(root, 'live'), join(folder, 'assets'), 'junction')
    await rename(join(folder, 'other'), join(folder, 'moved'))
    await symlink(join(folder, 'moved'), join(folder, 'other'), 'junction')
    const { removed } = await precompress(folder)
    expect(removed).toEqual([])
    expect((await readdir(join(root, 'live'))).toSorted()).toEqual(variantsToo)
    expect((await readdir(join(folder, 'moved'))).toSorted()).toEqual(expect.arrayContaining(variantsToo))
  })

  test('restores a lost variant', async () => {
    const folder = await makeFolder({ 'a.js': script })
    await precompress(folder)
    await unlink(join(folder, 'a.js.br'))
    expect((await precompress(folder)).written).toEqual(['a.js.br'])
    await expectSameAsFresh(folder)
  })

  test('warns about an invalid manifest, and treats all variants as files of the user', async () => {
    const folder = await makeFolder({ 'a.js': script })
    await precompress(folder)
    await writeFile(join(folder, manifestPath), '{')
    const { warnings, removed, manifest } = await precompress(folder, { cache: false })
    expect(warnings[0]).toMatch(/^cannot read \.serve-dist\/manifest\.json of an earlier compression/)
    expect(removed).toEqual([])
    expect(manifest.files.map(({ path }) => path)).toEqual(['a.js', 'a.js.br', 'a.js.gz', 'a.js.zst'])
  })

  test('recognizes its variants after a kill before the manifest was written', async () => {
    const folder = await makeFolder({ 'a.js': script, 'gone.js': otherScript })
    const { manifest } = await precompress(folder)
    const claims = manifest.files.flatMap(({ path, variants }) =>
      variants.map(({ coding, sha256 }) => ({ path: variantPath(path, coding), sha256 })),
    )
    await rename(join(folder, manifestPath), join(folder, pendingPath))
    await writeFile(
      join(folder, pendingPath),
      JSON.stringify({ version: 1, replaces: null, variants: claims }),
    )
    await mkdir(join(folder, '.serve-dist/staging'))
    await writeFile(join(folder, '.serve-dist/staging/0'), 'half')
    await unlink(join(folder, 'gone.js'))
    const { warnings, removed } = await precompress(folder)
    expect(warnings).toEqual([])
    expect(removed).toEqual(['gone.js.br', 'gone.js.gz', 'gone.js.zst'])
    await expectSameAsFresh(folder)
  })
})

describe('precompress with errors', () => {
  test('names a folder that is missing or a file', async () => {
    const folder = await makeFolder({ file: '' })
    expect(await problemsOf(precompress(join(folder, 'dist')))).toEqual([
      `${join(folder, 'dist')}: the folder does not exist. Build first, or pass the folder that the build wrote.`,
    ])
    expect(await problemsOf(precompress(join(folder, 'file')))).toEqual([
      `${join(folder, 'file')}: this is not a folder. Name the folder that the build wrote.`,
    ])
  })

  test('names every invalid option', async () => {
    const folder = await makeFolder()
    const options: object = {
      minimumSize: -1,
      codings: ['deflate'],
      base: 'app',
      include: ['../x'],
      treshold: 1,
    }
    expect(await problemsOf(precompress(folder, options))).toHaveLength(5)
    expect(await readFolder(folder)).toEqual(new Map())
  })

  test('names every file that was removed during the compression, and leaves nothing behind', async () => {
    const folder = await makeFolder({ 'a.js': script, 'b.png': 'b', 'c.js': otherScript })
    const removeAtStart = async (): Promise<readonly string[]> => {
      const { unlinkSync } = await import('node:fs')
      const onProgress = ({ files }: Progress): void => {
        if (files > 0) return
        unlinkSync(join(folder, 'a.js'))
        unlinkSync(join(folder, 'b.png'))
      }
      return await problemsOf(precompress(folder, { onProgress }))
    }
    expect(await removeAtStart()).toEqual([
      'a.js: cannot compress this file (ENOENT: no such file or directory)',
      'b.png: cannot compress this file (ENOENT: no such file or directory)',
    ])
    expect([...(await readFolder(folder)).keys()]).toEqual(['c.js'])
    await expect(stat(join(folder, '.serve-dist'))).rejects.toThrow('ENOENT')
  })

  test('rejects a file that changed during the compression', async () => {
    const folder = await makeFolder({ 'a.js': script, 'b.js': otherScript })
    const onProgress = ({ files }: Progress): void => {
      if (files === 2) appendFileSync(join(folder, 'b.js'), '//')
    }
    expect(await problemsOf(precompress(folder, { onProgress }))).toEqual([
      'b.js: the file changed during the compression. Compress the folder after all other programs have written to it.',
    ])
    expect([...(await readFolder(folder)).keys()]).toEqual(['a.js', 'b.js'])
  })

  test('rejects with an error of a callback', async () => {
    const folder = await makeFolder(build)
    await expect(precompress(folder, { onProgress: throwInTheMiddle })).rejects.toThrow(RangeError)
    expect([...(await readFolder(folder)).keys()]).toEqual(Object.keys(build).toSorted())
  })

  test('names a folder that is not writable', async () => {
    const folder = await makeFolder({ ...build, '.serve-dist': 'a file in the way' })
    const problems = await problemsOf(precompress(folder))
    expect(problems.length).toBeGreaterThan(0)
    expect(problems[0]).toMatch(/EEXIST|ENOTDIR/)
  })

  test('omits a coding if the name of its variant would be too long', async () => {
    const name = `${'n'.repeat(249)}.js`
    const folder = await makeFolder({ [name]: script })
    const { manifest } = await precompress(folder)
    expect(manifest.files[0]?.variants.map(({ coding }) => coding)).toEqual(['br', 'gzip'])
  })

  test.skipIf(process.platform === 'win32')(
    'reports each warning immediately and in the report',
    async () => {
      const folder = await makeFolder(build)
      await symlink('nowhere', join(folder, 'broken.txt'))
      const passedOn: string[] = []
      const { warnings } = await precompress(folder, { onWarning: (message) => passedOn.push(message) })
      expect(warnings).toHaveLength(1)
      expect(passedOn).toEqual(warnings)
    },
  )

  test.each(['yesterday', '-1', '1.5', '1e9', '999999999999'])(
    'rejects %s as SOURCE_DATE_EPOCH',
    async (epoch) => {
      vi.stubEnv('SOURCE_DATE_EPOCH', epoch)
      expect(await problemsOf(precompress(await makeFolder()))).toEqual([
        `SOURCE_DATE_EPOCH: expected a whole number of seconds since 1970, found "${epoch}"`,
      ])
      vi.unstubAllEnvs()
    },
  )

  test('uses the clock if SOURCE_DATE_EPOCH is empty', async () => {
    vi.stubEnv('SOURCE_DATE_EPOCH', '')
    const { manifest } = await precompress(await makeFolder())
    expect(manifest).not.toHaveProperty('timesAreFixed')
    vi.unstubAllEnvs()
  })
})

function throwInTheMiddle({ files }: Progress): void {
  if (files === 3) throw new RangeError('mine')
}

async function timesOf(folder: string): Promise<[string, bigint, bigint][]> {
  const paths = [...(await readFolder(folder)).keys()]
  return await Promise.all(
    paths.map(async (path): Promise<[string, bigint, bigint]> => {
      const { ino, mtimeNs } = await stat(join(folder, path), { bigint: true })
      return [path, ino, mtimeNs]
    }),
  )
}

/** Expects that the folder equals a first compression of the same originals, except for times. */
async function expectSameAsFresh(folder: string): Promise<void> {
  const disk = await readFolder(folder)
  const { manifest } = await precompress(folder)
  const originals = manifest.files.map(({ path }) => [path, disk.get(path) ?? ''] as const)
  const fresh = await makeFolder(Object.fromEntries(originals))
  const { manifest: freshManifest } = await precompress(fresh)
  expect(manifest.buildId).toBe(freshManifest.buildId)
  expect([...disk.keys()]).toEqual([...(await readFolder(fresh)).keys()])
  await rm(fresh, { recursive: true })
}
