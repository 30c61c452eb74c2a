import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Manifest, manifestPath, parseManifest } from '@serve-dist/manifest'
import { finish, precompress, writeRecord } from '@serve-dist/precompress'
import { describe, expect, test } from 'vitest'
import { writeFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'

const script = compressibleText(2000)
const files = { 'index.html': '<!doctype html>', 'assets/app-1a2b3c4d.js': script, 'secret.txt': 'secret' }

async function compress(...args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await spawnCommand(['compress', ...args]).exited
  expect([code, stderr.replaceAll(/^serve-dist: warning: .*\n/gm, '')]).toEqual([0, ''])
  return { stdout, stderr }
}

async function manifestOf(folder: string): Promise<Manifest> {
  return parseManifest(await readFile(join(folder, manifestPath), 'utf8'))
}

async function pathsOf(folder: string): Promise<string[]> {
  return (await manifestOf(folder)).files.map(({ path }) => path)
}

describe('serve-dist compress', () => {
  test('waits until another compression of the same folder ends', async () => {
    const scripts = Array.from({ length: 40 }, (_, index) => [`${index}.js`, `${script}//${index}`])
    const folder = await writeFixture({ ...files, ...Object.fromEntries(scripts) })
    await Promise.all(['a', 'b', 'c'].map(async () => await compress(folder, '--base', '/a/')))
    expect((await pathsOf(folder)).length).toBe(43)
  })

  test('finds the record of the build in the folder or in the cache, and reports it', async () => {
    const root = await writeFixture({
      'package.json': '{}',
      'dist/index.html': 'page',
      'dist/a-1.js': script,
    })
    const folder = join(root, 'dist')
    const { files: described } = (await precompress(folder)).manifest
    const sha256 = described.find(({ path }) => path === 'a-1.js')?.sha256 ?? ''
    await rm(join(folder, '.serve-dist'), { recursive: true })
    const facts = { role: 'client', base: '/', appType: 'spa', assetsDirectory: '', selection: {} } as const
    const names = { hashed: { 'a-1.js': { sha256 } }, graph: {}, promises: [], preload: false } as const
    writeRecord(folder, { ...facts, ...names }, { root })
    const { stdout } = await compress(folder)
    expect(stdout).toMatch(/^1 hashed name known from the build of \d\d:\d\d\n/)
    await rm(join(folder, '.serve-dist'), { recursive: true })
    expect((await compress(folder)).stdout).toMatch(
      /^1 hashed name known from .* \(its record is in the cache/,
    )
    expect((await manifestOf(folder)).files[0]).toMatchObject({ path: 'a-1.js', cache: 'immutable' })
  })

  test.skipIf(process.platform === 'win32')(
    'does not wait for a FIFO and does not read folders in the record cache',
    async () => {
      const root = await writeFixture({
        'package.json': '{}',
        'dist/a.js': script,
        'dist/b.js': `${script}//`,
      })
      const folder = join(root, 'dist')
      const cache = join(root, 'node_modules/.cache/serve-dist')
      await compress(folder)
      const entries = (await readdir(join(cache, 'entries-1'), { recursive: true })).filter(
        (name) => name.length > 60,
      )
      const [first = '', second = ''] = entries.map((name) => join(cache, 'entries-1', name))
      await mkdir(join(cache, 'records/folder.json'), { recursive: true })
      for (const path of [first, second, join(cache, 'pruned')]) await rm(path)
      for (const name of ['a.js', 'b.js'])
        for (const end of ['.zst', '.br', '.gz']) await rm(join(folder, name + end))
      await rm(join(folder, '.serve-dist/manifest.json'))
      await mkdir(second)
      const pipes = [first, join(cache, 'pruned'), join(cache, 'records/pipe.json')]
      execFileSync('mkfifo', [...pipes, join(folder, '.serve-dist/record.json')])
      const warnings: string[] = []
      await finish(folder, { cacheSize: 1, onWarning: (message) => warnings.push(message) })
      for (const name of ['records/pipe.json', 'records/folder.json', '.serve-dist/record.json'])
        expect(warnings.join('\n')).toMatch(new RegExp(`cannot read .*${name}: `))
      expect(await pathsOf(folder)).toEqual(['a.js', 'b.js'])
    },
  )

  test('reports what is lost without a record, and prints globs that restore it', async () => {
    const folder = await writeFixture(files)
    const { stdout } = await compress(folder)
    expect(stdout).toMatch(/^no record of a build found, so no file is immutable: .*--immutable 'assets/s)
    await compress(folder, '--immutable', 'assets/**')
    expect((await compress(folder)).stdout).toMatch(/immutable by your globs: assets\/\*\*/)
    const command = spawnCommand([folder, '--port', '0'])
    const { port } = await command.listening
    const response = await rawRequest(port, { target: '/assets/app-1a2b3c4d.js' })
    expect(response.field('Cache-Control')).toContain('immutable')
    command.child.kill()
    await command.exited
  })

  test('compresses new files, and no excluded files, if run as the server suggests', async () => {
    const folder = await writeFixture(files)
    await precompress(folder, { exclude: ['secret.txt'] })
    const before = await pathsOf(folder)
    await writeFile(join(folder, 'new.html'), '<p>new')
    const server = spawnCommand([folder, '--port', '0'])
    await server.listening
    server.child.kill()
    const [, cure = ''] =
      /new\.html\. Run: npx serve-dist compress (\S+)/.exec((await server.exited).stderr) ?? []
    const { stderr } = await compress(cure)
    expect(await pathsOf(folder)).toEqual([...before, 'new.html'].toSorted())
    expect(stderr).toBe(
      'serve-dist: warning: new.html was not in the previous build and will be served. Use --exclude to leave files out.\n',
    )
  })

  test.each([
    [
      'a project',
      { 'package.json': '{}', 'index.html': 'page', 'vite.config.ts': '', 'dist/index.html': '' },
    ],
    ['the code of a server', { 'server/index.js': 'secret', 'client/index.html': 'page' }],
  ])('refuses to publish %s, unless globs include it', async (_what, found) => {
    const folder = await writeFixture(found)
    const { code, stderr } = await spawnCommand(['compress', folder]).exited
    expect([code, stderr]).toEqual([1, expect.stringContaining('SD_FOLDER_WRONG')])
    expect(stderr).toMatch(
      /: npx serve-dist compress \S+\/(?:dist|client)\n {2}To compress the whole folder \S+ anyway, pass --include '\*\*'/,
    )
    await expect(manifestOf(folder)).rejects.toThrow('ENOENT')
    await compress(folder, '--include', '**')
    expect(await pathsOf(folder)).toEqual(Object.keys(found).toSorted())
  })

  test("replaces the manifest's selection with a flag", async () => {
    const folder = await writeFixture(files)
    await precompress(folder, { include: ['**/*.html', '**/*.txt'], exclude: ['secret.txt'] })
    await compress(folder, '--exclude', 'index.html')
    expect(await pathsOf(folder)).toEqual(['secret.txt'])
    await compress(folder, '--include', 'assets/**')
    expect(await pathsOf(folder)).toEqual(['assets/app-1a2b3c4d.js'])
    expect((await manifestOf(folder)).selection).toEqual({ include: ['assets/**'], exclude: ['index.html'] })
  })

  test('uses variants of another tool, and also serves them under their own names', async () => {
    const foreign = gzipSync(script, { level: 1 })
    const folder = await writeFixture({ ...files, 'data.js': script, 'data.js.gz': foreign })
    expect((await compress(folder)).stderr).toBe('')
    const command = spawnCommand([folder, '--port', '0', '--verify'])
    const { port } = await command.listening
    const encoded = await rawRequest(port, { target: '/data.js', fields: { 'Accept-Encoding': 'gzip' } })
    expect([encoded.field('Content-Encoding'), encoded.body]).toEqual(['gzip', foreign])
    const itself = await rawRequest(port, {
      target: '/data.js.gz',
      fields: { 'Accept-Encoding': 'gzip, br' },
    })
    expect([itself.status, itself.field('Content-Encoding'), itself.body]).toEqual([200, undefined, foreign])
    command.child.kill()
    await command.exited
  })

  test('warns once about globs that match nothing', async () => {
    const folder = await writeFixture(files)
    const { stderr } = await compress(folder, '--exclude', 'secrets.txt', '--immutable', 'asets/**')
    expect(stderr).toBe(
      `serve-dist: warning: --immutable asets/**, --exclude secrets.txt: no file in ${folder} matches. Correct the glob.\n`,
    )
  })
})
