import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { cp, mkdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { OperatorError, manifestPath } from '@serve-dist/manifest'
import { pendingPath } from '@serve-dist/precompress'
import { describe, expect, test, vi } from 'vitest'
import { loadSite } from './load-site.ts'
import type { LoadSiteOptions } from './load-options.ts'
import { buildFixture, type FixtureFiles, writeFixture } from '../../test/support/build-fixture.ts'
import { compressibleText } from '../../test/support/compressible-text.ts'
import { temporaryDirectory } from '../../test/support/temporary-directory.ts'

const files = {
  'index.html': compressibleText(2000, 'page'),
  'app.js': compressibleText(5000),
  'style.css': compressibleText(3000),
}

/** Returns the lines of the error. Fails if the site loads. */
async function problemsOf(directory: string, options: LoadSiteOptions = {}): Promise<readonly string[]> {
  const error: unknown = await loadSite(directory, options).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof OperatorError) return error.problems
  throw new Error(`expected an OperatorError, found ${String(error)}`)
}

async function editManifest(directory: string, edit: (text: string) => string): Promise<string> {
  const file = join(directory, manifestPath)
  await writeFile(file, edit(await readFile(file, 'utf8')))
  return file
}

describe('loadSite', () => {
  test('loads a build and summarizes it', async () => {
    const { summary, table } = await loadSite(await buildFixture(files))
    expect(summary).toMatchObject({ files: 3, variants: 9 })
    expect([...table.keys()].toSorted()).toEqual([
      '/',
      '/__serve-dist/build.json',
      '/__serve-dist/kept.json',
      '/app.js',
      '/index.html',
      '/style.css',
    ])
  })

  test('holds the smallest bodies within the budget', async () => {
    const directory = await buildFixture({
      'a.png': 'x'.repeat(100),
      'b.png': 'x'.repeat(300),
      'c.png': 'x'.repeat(200),
    })
    const { table, summary } = await loadSite(directory, { memoryBudget: 450 })
    const held = [...table].map(([path, entry]) => [
      path,
      entry.kind === 'resource' && entry.identity.bytes.body !== undefined,
    ])
    expect(Object.fromEntries(held)).toMatchObject({ '/a.png': true, '/b.png': false, '/c.png': true })
    expect(summary.bytesInMemory).toBe(300)
  })

  test('warns if bodies may exceed the memory of the container', async () => {
    const limit = vi.spyOn(process, 'constrainedMemory').mockReturnValue(1_000_000)
    const onWarning = vi.fn<(message: string) => void>()
    await loadSite(await buildFixture(files), { onWarning })
    limit.mockRestore()
    expect(onWarning.mock.calls).toEqual([[expect.stringMatching(/^this process can use 1\.0 MB of memory/)]])
  })

  test('lists all files that are missing or have another size', async () => {
    const directory = await buildFixture(files)
    await rm(join(directory, 'app.js.br'))
    await rm(join(directory, 'style.css'))
    await truncate(join(directory, 'index.html.gz'), 10)
    await writeFile(join(directory, 'app.js'), 'grown', { flag: 'a' })
    expect(await problemsOf(directory)).toEqual([
      `${directory}: 4 files differ from the manifest, because a program wrote files after the compression (2 newer than the manifest).`,
      `  Deploy the whole folder. Make this the last step of the build: npx serve-dist compress ${directory}`,
      '  app.js.br: is missing',
      expect.stringMatching(/^ {2}app\.js: has \d+ bytes, the manifest says \d+$/),
      expect.stringMatching(/^ {2}index\.html\.gz: has 10 bytes, the manifest says \d+$/),
      '  style.css: is missing',
    ])
  })

  test.each(['index.html', 'app.js.zst'])('reports %s with other bytes of the same size', async (path) => {
    const directory = await buildFixture(files)
    const file = join(directory, path)
    const bytes = await readFile(file)
    bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20)
    await writeFile(file, bytes)
    const problems = [
      `${directory}: 1 file differs from the manifest, because a program wrote files after the compression (1 newer than the manifest).`,
      `  Deploy the whole folder. Make this the last step of the build: npx serve-dist compress ${directory}`,
      `  ${path}: has other bytes than the manifest says (SHA-256 differs)`,
    ]
    expect(await problemsOf(directory)).toEqual(problems)
    expect(await problemsOf(directory, { verify: 'hash', memoryBudget: 0 })).toEqual(problems)
    // Streamed files are checked when they are sent. Their digests are compared only on request.
    await expect(loadSite(directory, { memoryBudget: 0 })).resolves.toBeDefined()
  })

  test('reports an incomplete copy if no file is newer than the manifest', async () => {
    const directory = await buildFixture(files)
    await rm(join(directory, 'app.js'))
    expect(await problemsOf(directory)).toEqual([
      `${directory}: 1 file differs from the manifest, because the copy is incomplete, or a program deleted files after the compression.`,
      `  Deploy the whole folder. Make this the last step of the build: npx serve-dist compress ${directory}`,
      '  app.js: is missing',
    ])
  })

  test('loads an intact build with verified digests', async () => {
    await expect(loadSite(await buildFixture(files), { verify: 'hash' })).resolves.toBeDefined()
  })

  // Windows supports only the first one.
  const inPlaceOfFiles: readonly (readonly [string, (file: string) => unknown])[] = [
    ['a folder', (file) => mkdir(file)],
    ['a FIFO, without waiting for a writer,', (file) => execFileSync('mkfifo', [file])],
  ]
  test.each(process.platform === 'win32' ? inPlaceOfFiles.slice(0, 1) : inPlaceOfFiles)(
    'reports %s instead of a file, in memory or streamed',
    async (_what, make) => {
      const directory = await buildFixture(files)
      await rm(join(directory, 'app.js'))
      await make(join(directory, 'app.js'))
      expect(await problemsOf(directory)).toContain('  app.js: is not a regular file')
      expect(await problemsOf(directory, { memoryBudget: 0 })).toContain('  app.js: is not a regular file')
    },
  )

  test.skipIf(process.platform === 'win32').each([
    ['a device', '/dev/zero'],
    ['a file outside the folder, even with the same bytes', undefined],
  ])('rejects a link to %s, in memory or streamed', async (_what, target) => {
    const directory = await buildFixture(files)
    const outside = join(await temporaryDirectory(), 'app.js')
    await rename(join(directory, 'app.js'), outside)
    await symlink(target ?? outside, join(directory, 'app.js'))
    const problem = '  app.js: is outside the folder, because the file or a folder in its path is a symlink'
    expect(await problemsOf(directory)).toContain(problem)
    expect(await problemsOf(directory, { memoryBudget: 0 })).toContain(problem)
  })

  test.skipIf(process.platform === 'win32')(
    'follows links within the folder, and rejects a subfolder that became a link to another folder',
    async () => {
      const directory = await buildFixture({ ...files, 'js/large.js': 'x'.repeat(5000), 'twin.js': 'twin' })
      await rename(join(directory, 'twin.js'), join(directory, 'js/twin.js'))
      await symlink('js/twin.js', join(directory, 'twin.js'))
      for (const memoryBudget of [0, 1e6]) {
        const { table } = await loadSite(directory, { memoryBudget })
        expect(table.has('/twin.js')).toBe(true)
      }
      const outside = await temporaryDirectory()
      await cp(join(directory, 'js'), outside, { recursive: true })
      await rm(join(directory, 'js'), { recursive: true })
      await symlink(outside, join(directory, 'js'))
      expect(await problemsOf(directory, { memoryBudget: 0 })).toContain(
        '  js/large.js: is outside the folder, because the file or a folder in its path is a symlink',
      )
    },
  )

  test('reports a file that was empty before', async () => {
    const directory = await buildFixture({ ...files, 'empty.txt': '' })
    await writeFile(join(directory, 'empty.txt'), 'x')
    expect(await problemsOf(directory)).toContain('  empty.txt: has 1 bytes, the manifest says 0')
  })

  test('continues after a partial read', async () => {
    const directory = await buildFixture({ ...files, 'empty.txt': '' })
    const { readSync } = fs
    fs.readSync = (descriptor: number, buffer: NodeJS.ArrayBufferView, ...rest: unknown[]) => {
      const [offset, length, position] = rest.map(Number)
      return readSync(descriptor, buffer, offset ?? 0, Math.min(length ?? 0, 100), position ?? 0)
    }
    syncBuiltinESMExports()
    try {
      const { table } = await loadSite(directory)
      for (const [path, text] of Object.entries({ ...files, 'empty.txt': '' })) {
        const entry = table.get(`/${path}`)
        const body = entry?.kind === 'resource' ? entry.identity.bytes.body : undefined
        expect(Buffer.from(body ?? 'none').toString()).toBe(text)
      }
    } finally {
      fs.readSync = readSync
      syncBuiltinESMExports()
    }
  })

  test('reads a body that is larger than the read buffer', async () => {
    const body = compressibleText(600_000)
    const directory = await buildFixture({ 'large.png': body })
    const { summary } = await loadSite(directory)
    expect(summary.bytesInMemory).toBeGreaterThan(600_000)
    await writeFile(join(directory, 'large.png'), `${body.slice(0, -1)}~`)
    expect(await problemsOf(directory)).toContain(
      '  large.png: has other bytes than the manifest says (SHA-256 differs)',
    )
  })

  test.each<readonly [string, (text: string) => string, readonly RegExp[]]>([
    ['is truncated', (text) => text.slice(0, 100), [/\$: not JSON/]],
    ['is empty', () => '', [/\$: not JSON/]],
    [
      'has an unknown version',
      (text) => text.replace(/"version":\s*1/, '"version":99'),
      [/\$\.version: expected version 1, found 99\. Build and serve/],
    ],
    [
      'has several wrong values',
      (text) => text.replace(/"appType":\s*"spa"/, '"appType":"app"').replace(/"size":\s*/, '"size":-'),
      [/\$\.appType: /, /\$\.files\[0\]\.size: /],
    ],
    [
      'names a file outside the folder',
      (text) => text.replace('"app.js"', '"../app.js"'),
      [/\$\.files\[0\]\.path: .*"\.\."/],
    ],
  ])('rejects a manifest that %s', async (_what, edit, expected) => {
    const directory = await buildFixture(files)
    const file = await editManifest(directory, edit)
    const problems = await problemsOf(directory)
    for (const form of expected) expect(problems).toContainEqual(expect.stringMatching(form))
    expect(problems.filter((problem) => problem.startsWith(`${file}: `))).toHaveLength(problems.length - 1)
    expect(problems.at(-1)).toMatch(/^Build again\. /)
  })

  test('rejects a missing folder', async () => {
    const directory = join(await writeFixture({}), 'dist')
    expect(await problemsOf(directory)).toEqual([
      `${directory}: the folder does not exist. Build first, or pass the folder that the build wrote.`,
    ])
  })

  test('rejects a file instead of a folder', async () => {
    const file = join(await writeFixture({ dist: 'a file' }), 'dist')
    expect(await problemsOf(file)).toEqual([
      `${file}: this is not a folder. Name the folder that the build wrote.`,
    ])
  })

  test('rejects a build with an interrupted compression', async () => {
    const directory = await writeFixture({ ...files, [pendingPath]: '' })
    expect(await problemsOf(directory)).toEqual([
      `${directory}: the last build or compression did not finish (${pendingPath} exists). Build again. If all files are complete, run: npx serve-dist compress ${directory}`,
    ])
  })

  test.each<[string, string, string]>([
    ['that was not compressed', '{"hashed":{},"graph":{}}', 'ended without its compression'],
    ['that failed', '{"begun":true,"hashed":{},"graph":{}}', 'compression did not finish'],
  ])('recognizes a build %s by its record', async (_what, record, expected) => {
    const state = { [pendingPath]: '', '.serve-dist/record.json': record }
    const [problem] = await problemsOf(await writeFixture({ ...files, ...state }))
    expect(problem).toContain(expected)
  })

  test.each<[string, FixtureFiles, string]>([
    ['with compressible files', files, ' and no variants'],
    ['with a variant', { ...files, 'app.js.gz': gzipSync(files['app.js']) }, ''],
    ['with small or compressed files', { 'index.html': 'hi', 'photo.png': 'x'.repeat(2000) }, ''],
  ])('warns about a folder %s and without a manifest', async (_what, content, variants) => {
    const warnings: string[] = []
    const folder = await writeFixture(content)
    await loadSite(folder, { onWarning: (warning) => warnings.push(warning) })
    expect(warnings).toEqual([
      `${folder}: no manifest${variants} found, so the plugin's rules, the excluded files and the hashed names of the build are unknown. Add the plugin or your framework's integration (https://serve-dist.github.io/serve-dist/frameworks), or run: npx serve-dist compress ${folder}`,
    ])
  })

  test('uses the given name of a folder without a manifest', async () => {
    const folder = join(await writeFixture({ 'site/app.js': files['app.js'] }), 'named')
    await symlink('site', folder)
    const warnings: string[] = []
    await loadSite(folder, { onWarning: (warning) => warnings.push(warning) })
    expect(warnings).toEqual([expect.stringContaining(`${folder}: no manifest`)])
  })

  test('rejects invalid options', async () => {
    await expect(loadSite('.', { memoryBudget: -1 })).rejects.toThrow(
      /^memoryBudget: expected a size such as /,
    )
  })
})
