import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Manifest, manifestPath, type RuntimeEnvironment } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { addFiles, makeFolder } from '../../test/support/make-folder.ts'
import { markUnfinished } from '../commit/build-writer.ts'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import type { BuildFacts, BuildRecord } from '../record/build-record.ts'
import { writeRecord } from '../record/record-files.ts'
import { finish, type FinishOptions, type FinishReport } from './finish.ts'
import { precompress } from './precompress.ts'

const script = 'export const answer = 42\n'.repeat(100)
const style = 'a { color: red }\n'.repeat(100)
const page =
  '<script type="module" src="/assets/app-1.js"></script><link rel="stylesheet" href="/assets/app-1.css">'
const files = { 'assets/app-1.js': script, 'assets/app-1.css': style, 'index.html': page }

const facts: BuildFacts = {
  role: 'client',
  base: '/',
  appType: 'mpa',
  assetsDirectory: 'assets',
  selection: {},
  preload: { fonts: false },
  promises: [],
  hashed: {
    'assets/app-1.js': { sha256: sha256Of(script), stem: 'assets/app-[hash].js' },
    'assets/app-1.css': { sha256: sha256Of(style) },
  },
  graph: { 'assets/app-1.js': { imports: [], styles: ['assets/app-1.css'] } },
}

/** Creates a project with a build in `dist` and its record. */
async function makeProject(more: Partial<BuildFacts> = {}): Promise<{ root: string; folder: string }> {
  const root = await makeFolder({ 'package.json': '{}' })
  const folder = join(root, 'dist')
  await addFiles(folder, files)
  writeRecord(folder, { ...facts, ...more }, { root })
  return { root, folder }
}

/** Finishes from another working directory, without a cache of results. */
async function finishThere(folder: string, options: FinishOptions = {}): Promise<FinishReport> {
  return await finish(folder, { root: dirname(folder), cache: false, durable: false, ...options })
}

function immutableFiles({ files: all }: Manifest): string[] {
  return all.filter(({ cache }) => cache === 'immutable').map(({ path }) => path)
}

function workersIn({ manifest }: FinishReport): string[] {
  return manifest.files.filter(({ worker }) => worker === true).map(({ path }) => path)
}

const environment: RuntimeEnvironment = {
  path: 'env.js',
  prefix: '',
  variables: { API_URL: { type: 'string', required: true } },
}

describe('finish of a build with an environment', () => {
  test('copies it from the record into the manifest, and keeps it there', async () => {
    const { folder } = await makeProject({ environment })
    await addFiles(folder, { 'env.js': 'export default {}\n'.repeat(99) })
    expect((await finishThere(folder)).manifest.environment).toEqual(environment)
    await rm(join(folder, '.serve-dist/record.json'))
    const { manifest } = await finishThere(folder)
    expect(manifest.environment).toEqual(environment)
    const module = manifest.files.find(({ runtime }) => runtime === true)
    expect(module).toMatchObject({ path: 'env.js', cache: 'revalidate', variants: [] })
  })

  test('finds a moved module, unless two files match', async () => {
    const { folder } = await makeProject({ environment })
    await addFiles(folder, { 'app/env.js': 'export default {}', 'app/other-env.js': '' })
    expect((await finishThere(folder)).manifest.environment?.path).toBe('app/env.js')
    await addFiles(folder, { 'new/env.js': 'export default {}' })
    await rm(join(folder, manifestPath))
    await expect(finishThere(folder)).rejects.toThrow(/env\.js: .* may be any of app\/env\.js, new\/env\.js/)
  })

  test.each([
    ['missing', {}, {}],
    ['excluded', { 'env.js': 'export default {}' }, { exclude: ['env.js'] }],
  ])('fails if the module is %s', async (_what, more, options) => {
    const { folder } = await makeProject({ environment })
    await addFiles(folder, more)
    const failure = {
      code: 'SD_ENVIRONMENT_INVALID',
      message: expect.stringContaining('is not among the files'),
    }
    await expect(finishThere(folder, options)).rejects.toMatchObject(failure)
  })

  test('keeps it after a build without one while an earlier chunk imports the module', async () => {
    const { root, folder } = await makeProject({
      environment,
      graph: { 'assets/app-1.js': { imports: ['env.js'], styles: [] } },
    })
    expect(writeRecord(folder, { ...facts, graph: {} }, { root }).environment).toEqual(environment)
    await rm(join(folder, 'assets/app-1.js'))
    expect(writeRecord(folder, { ...facts, graph: {} }, { root }).environment).toBeUndefined()
  })
})

describe('finish', () => {
  test('uses names from the record and bytes from the disk', async () => {
    const { folder } = await makeProject()
    await writeFile(join(folder, 'assets/app-1.css'), 'b { color: blue }')
    await writeFile(join(folder, 'late.html'), '<p>prerendered')
    const report = await finishThere(folder)
    expect(report).toMatchObject({ source: 'record', hashedNames: 1 })
    expect(report.recordedAt).toMatch(/^\d{4}-/)
    expect(report.manifest).toMatchObject({ appType: 'mpa', assetsDirectory: 'assets' })
    expect(report.manifest).not.toHaveProperty('selection')
    expect(report.manifest.files.map(({ path, cache, stem }) => [path, cache, stem])).toEqual([
      ['assets/app-1.css', 'revalidate', undefined],
      ['assets/app-1.js', 'immutable', 'assets/app-[hash].js'],
      ['index.html', 'revalidate', undefined],
      ['late.html', 'revalidate', undefined],
    ])
    expect(report.manifest.files[2]?.links).toEqual([
      { path: 'assets/app-1.css', rel: 'preload', as: 'style', inDocument: true },
      { path: 'assets/app-1.js', rel: 'modulepreload', inDocument: true },
    ])
    expect(await readdir(join(folder, '.serve-dist'))).toEqual(['manifest.json', 'record.json'])
  })

  test('adds no links to styles that a page of a framework does not contain', async () => {
    const inlined = {
      'index.html': '<style>b{}</style><script type="module" src="/assets/app-1.js"></script>',
    }
    const linksFor = async (appType: BuildFacts['appType']): Promise<unknown> => {
      const { folder } = await makeProject({ appType })
      await addFiles(folder, inlined)
      const { manifest } = await finishThere(folder)
      return manifest.files.find(({ path }) => path === 'index.html')?.links?.map(({ path }) => path)
    }
    expect(await linksFor('mpa')).toEqual(['assets/app-1.css', 'assets/app-1.js'])
    expect(await linksFor('custom')).toEqual(['assets/app-1.js'])
  })

  test('applies the exclusions of builds in subfolders', async () => {
    const { root, folder } = await makeProject()
    const serving = { sourceMaps: 'deny' } as const
    const below = {
      base: '/a(1)/',
      selection: { include: ['**', '!*.pem'], exclude: ['secret.txt'] },
      serving,
    }
    for (const name of ['a(1)', 'b']) {
      const paths = ['index.html', 'app.js.map', 'app.js.map.br', 'key.pem', 'secret.txt'].map(
        (path) => [path, path] as const,
      )
      await addFiles(join(folder, name), Object.fromEntries(paths))
      writeRecord(join(folder, name), { ...facts, ...below }, { root })
    }
    await finishThere(join(folder, 'b'))
    await rm(join(folder, 'b/.serve-dist/record.json'))
    const { manifest, warnings } = await finishThere(folder, { exclude: [] })
    const paths = manifest.files.map(({ path }) => path).filter((path) => !path.startsWith('assets/'))
    expect(paths).toEqual(['a(1)/index.html', 'b/index.html', 'index.html'])
    expect(warnings).toEqual([
      'a(1)/ is a separate build, so its exclusions also apply here',
      'b/ is a separate build, so its exclusions also apply here',
    ])
    expect((await finishThere(folder)).warnings).toEqual([])
  })

  test('warns if a given glob publishes files that the build excluded', async () => {
    const { folder } = await makeProject({ selection: { exclude: ['*.txt'] } })
    await addFiles(folder, { 'secret.txt': 'secret', 'draft.html': '<p>draft' })
    const { manifest, warnings } = await finishThere(folder, { exclude: ['draft.html'] })
    expect(manifest.files.map(({ path }) => path)).toContain('secret.txt')
    expect(warnings).toEqual([
      'the server will publish secret.txt, which the build excluded. The given globs replace those of the build. To exclude these files again, use the globs of the build: exclude *.txt',
    ])
    await rm(join(folder, manifestPath))
    expect((await finishThere(folder, { exclude: ['draft.html', '*.txt'] })).warnings).toEqual([])
  })

  test('uses the record of the cache if the folder lost its own', async () => {
    const { folder } = await makeProject()
    await rm(join(folder, '.serve-dist'), { recursive: true })
    const { source, manifest } = await finishThere(folder)
    expect(source).toBe('cache')
    expect(immutableFiles(manifest)).toEqual(['assets/app-1.css', 'assets/app-1.js'])
  })

  test('does not use a cached record if another program wrote the folder since', async () => {
    const { folder } = await makeProject({ base: '/old/' })
    await rm(folder, { recursive: true })
    await addFiles(folder, { 'index.html': page, 'assets/app-2.js': script })
    const { source, manifest } = await finishThere(folder)
    expect([source, manifest.base]).toEqual(['none', '/'])
  })

  test('recognizes a copied build by its hashed files', async () => {
    const { root } = await makeProject({ base: '/docs/' })
    writeRecord(join(root, 'other'), { ...facts, base: '/other/', hashed: {} }, { root })
    const folder = join(root, 'public')
    await addFiles(folder, files)
    const { source, manifest } = await finishThere(folder)
    expect(source).toBe('cache')
    expect(manifest.base).toBe('/docs/')
    expect(immutableFiles(manifest)).toEqual(['assets/app-1.css', 'assets/app-1.js'])
  })

  test('does not apply the base of builds in subfolders to the folder, but knows their hashed names', async () => {
    const { root } = await makeProject({ base: '/docs/' })
    const folder = join(root, 'public')
    for (const [path, text] of Object.entries(files)) await addFiles(folder, { [`docs/${path}`]: text })
    for (const name of ['shop', 'admin']) {
      const text = `${script}// ${name}`
      await addFiles(join(folder, name), { 'index.html': page, 'assets/app-2.js': text })
      const hashed = { 'assets/app-2.js': { sha256: sha256Of(text) } }
      writeRecord(join(folder, name), { ...facts, base: `/${name}/`, hashed, graph: {} }, { root })
    }
    const { source, manifest } = await finishThere(folder)
    expect([source, manifest.base]).toEqual(['none', '/'])
    expect(immutableFiles(manifest)).toEqual([
      'admin/assets/app-2.js',
      'docs/assets/app-1.css',
      'docs/assets/app-1.js',
      'shop/assets/app-2.js',
    ])
    expect(manifest.files.find(({ stem }) => stem !== undefined)?.stem).toBe('docs/assets/app-[hash].js')
  })

  test('does not use the record of an application that only shares a chunk', async () => {
    const more = Object.fromEntries(
      ['x.js', 'y.js', 'z.js'].map((path) => [path, { sha256: sha256Of(path) }]),
    )
    const { root } = await makeProject({ base: '/other/', hashed: { ...facts.hashed, ...more } })
    const folder = join(root, 'public')
    await addFiles(folder, { 'assets/app-1.js': script, 'assets/app-1.css': style })
    const { source, manifest } = await finishThere(folder)
    expect([source, manifest.base]).toEqual(['none', '/'])
    expect(immutableFiles(manifest)).toEqual(['assets/app-1.css', 'assets/app-1.js'])
  })

  test('marks no file as immutable if only the end of its path matches a hashed file', async () => {
    const { root } = await makeProject()
    const folder = join(root, 'public')
    await addFiles(folder, {
      'app-1.js': script,
      'assets/my-app-1.js': script,
      'assets/app-1.css': 'changed',
    })
    const { source, manifest } = await finishThere(folder)
    expect(immutableFiles(manifest)).toEqual([])
    expect(source).toBe('none')
  })

  test('uses rules, selection, codings and minimum size of the record', async () => {
    const { folder } = await makeProject({
      base: '/app/',
      selection: { exclude: ['late.html'] },
      codings: ['gzip'],
      minimumSize: 10,
      serving: { securityHeaders: true },
      preload: false,
    })
    await writeFile(join(folder, 'late.html'), '<p>'.repeat(200))
    const { manifest } = await finishThere(folder)
    expect(manifest).toMatchObject({
      base: '/app/',
      serving: { securityHeaders: true },
      selection: { exclude: ['late.html'] },
    })
    expect(manifest.files.map(({ path }) => path)).not.toContain('late.html')
    expect(manifest.files.flatMap(({ variants }) => variants.map(({ coding }) => coding))).toEqual([
      'gzip',
      'gzip',
    ])
    expect(manifest.files.every(({ links }) => links === undefined)).toBe(true)
  })

  test('prefers options to the manifest, and the manifest to the record', async () => {
    const { folder } = await makeProject({ base: '/record/', selection: { exclude: ['a.html'] } })
    await finishThere(folder, { base: '/option/', exclude: ['b.html'], serving: { prefer: 'smallest' } })
    const again = await finishThere(folder)
    expect(again.manifest).toMatchObject({
      base: '/option/',
      selection: { exclude: ['b.html'] },
      serving: { prefer: 'smallest' },
    })
    expect(again.written).toEqual([])
    const replaced = await finishThere(folder, { base: '/again/', exclude: [] })
    expect(replaced.manifest.base).toBe('/again/')
    expect(replaced.manifest).not.toHaveProperty('selection')
  })

  test('prefers the record to a withdrawn manifest', async () => {
    const { root, folder } = await makeProject()
    await finishThere(folder, { base: '/old/', exclude: ['index.html'] })
    await markUnfinished(folder)
    writeRecord(folder, { ...facts, base: '/new/' }, { root })
    const { manifest } = await finishThere(folder)
    expect(manifest.base).toBe('/new/')
    expect(manifest).not.toHaveProperty('selection')
  })

  test('keeps facts of an earlier manifest about unchanged files', async () => {
    const { root, folder } = await makeProject()
    await finishThere(folder)
    await markUnfinished(folder)
    await rm(join(root, 'node_modules'), { recursive: true })
    await rm(join(folder, '.serve-dist/record.json'))
    const second = 'export const second = 1\n'
    await addFiles(folder, { 'assets/second-2.js': second })
    const hashed = { 'assets/second-2.js': { sha256: sha256Of(second) } }
    writeRecord(folder, { ...facts, hashed, graph: {} }, { root })
    const { manifest } = await finishThere(folder)
    expect(immutableFiles(manifest)).toEqual(['assets/app-1.css', 'assets/app-1.js', 'assets/second-2.js'])
    expect(manifest.files[1]?.stem).toBe('assets/app-[hash].js')
  })

  test('applies the promises of a framework to its folder, including exceptions', async () => {
    const { folder } = await makeProject({ hashed: {}, promises: ['_nuxt/**', '!_nuxt/builds/**'] })
    await addFiles(folder, { '_nuxt/x.js': script, '_nuxt/builds/latest.json': '{}' })
    expect(immutableFiles((await finishThere(folder)).manifest)).toEqual(['_nuxt/x.js'])
  })

  test('ignores promises for another folder', async () => {
    const { root } = await makeProject({ promises: ['assets/**'] })
    const folder = join(root, 'other')
    await addFiles(folder, { 'assets/plain.js': script })
    expect(immutableFiles((await finishThere(folder)).manifest)).toEqual([])
  })

  test('prefers given records to those on the disk', async () => {
    const { folder } = await makeProject({ base: '/disk/' })
    const record: BuildRecord = { ...facts, base: '/handed/', version: 1, time: '2026-01-31T12:00:00Z' }
    const report = await finishThere(folder, { records: [record] })
    expect(report).toMatchObject({ source: 'record', recordedAt: record.time })
    expect(report.manifest.base).toBe('/handed/')
  })

  test('uses the record with the most files in the folder', async () => {
    const { folder } = await makeProject()
    const dated = { version: 1, time: '2026-01-31T12:00:00Z' } as const
    const other: BuildRecord = { ...facts, ...dated, base: '/other/', hashed: {} }
    const server: BuildRecord = { ...facts, ...dated, role: 'server', base: '/server/' }
    const graph = { 'assets/app-1.js': { imports: [], styles: [] } }
    const records = [server, other, { ...facts, ...dated, base: '/right/' }, { ...server, graph }]
    const { manifest } = await finishThere(folder, { records })
    expect(manifest.base).toBe('/right/')
  })

  test.each(['the folder', 'the cache'])('excludes server output that %s describes', async (where) => {
    const { root, folder } = await makeProject()
    const server = join(folder, 'server (1)')
    await addFiles(server, { 'entry.mjs': script })
    writeRecord(
      server,
      { ...facts, role: 'server', graph: { 'entry.mjs': { imports: [], styles: [] } } },
      { root },
    )
    if (where === 'the cache') await rm(join(server, '.serve-dist'), { recursive: true })
    else await rm(join(root, 'node_modules'), { recursive: true })
    const { manifest, warnings } = await finishThere(folder)
    expect(manifest.files.map(({ path }) => path)).toEqual(Object.keys(files).toSorted())
    expect(manifest.selection).toEqual({ exclude: [String.raw`server \(1\)/**`] })
    expect(warnings).toEqual([
      expect.stringMatching(/^excluded server \(1\)\/, because a build wrote it for a/),
    ])
    expect(await readdir(server)).not.toContain('entry.mjs.br')
    expect((await finishThere(folder)).written).toEqual([])
  })

  test('keeps rendered sites in a server folder, and files in an old server folder', async () => {
    const { root, folder } = await makeProject()
    const docs = join(folder, 'docs')
    await addFiles(docs, { 'index.html': page })
    writeRecord(docs, { ...facts, role: 'server' }, { root })
    await finishThere(docs)
    const old = join(folder, 'server')
    await addFiles(old, { 'entry.mjs': script })
    writeRecord(
      old,
      { ...facts, role: 'server', graph: { 'entry.mjs': { imports: [], styles: [] } } },
      { root },
    )
    await rm(old, { recursive: true })
    await addFiles(old, { 'index.html': page })
    const { manifest } = await finishThere(folder)
    expect(manifest.files.map(({ path }) => path)).toEqual([
      ...Object.keys(files).slice(0, 2).toSorted(),
      'docs/index.html',
      'index.html',
      'server/index.html',
    ])
  })

  test('rejects a folder of a server build, but not a site that a framework rendered into one', async () => {
    const { root } = await makeProject()
    const server = join(root, 'server')
    await addFiles(server, { 'entry.mjs': script })
    writeRecord(server, { ...facts, role: 'server' }, { root })
    await expect(finishThere(server)).rejects.toMatchObject({ code: 'SD_FOLDER_WRONG' })
    expect(await readdir(server)).toEqual(['.serve-dist', 'entry.mjs'])
    // The same if an earlier release wrote a manifest.
    await precompress(server)
    await expect(finishThere(server)).rejects.toMatchObject({ code: 'SD_FOLDER_WRONG' })
    await addFiles(server, { 'index.html': page })
    expect((await finishThere(server)).manifest.files.map(({ path }) => path)).toContain('index.html')
  })

  test('names the build in a subfolder', async () => {
    const { root, folder } = await makeProject()
    const client = join(root, 'out/client')
    await mkdir(dirname(client))
    await cp(folder, client, { recursive: true })
    await finishThere(client)
    const { warnings } = await finishThere(join(root, 'out'))
    expect(warnings).toEqual([expect.stringContaining(`run: npx @serve-dist/server compress ${client}`)])
  })

  test('marks the scripts of workers, also without the record later', async () => {
    const { folder } = await makeProject({ workers: ['assets/app-1.js'] })
    expect(workersIn(await finishThere(folder))).toEqual(['assets/app-1.js'])
    await rm(join(folder, '.serve-dist/record.json'))
    expect(workersIn(await finishThere(folder, { root: folder, records: [] }))).toEqual(['assets/app-1.js'])
  })

  test('names the service worker that precaches the environment, and the fix', async () => {
    const { folder } = await makeProject({ environment })
    await addFiles(folder, { 'env.js': 'export default {}', 'sw.js': 'p([{url:"env.js",revision:"1"}])' })
    const expected = [
      expect.stringContaining(`sw.js precaches env.js, so `),
      expect.stringContaining(`workbox: { globIgnores: ['**/env.js'] }`),
    ]
    for (const text of expected) expect((await finishThere(folder)).warnings).toContainEqual(text)
  })

  test('keeps globs of hashed names as a rule, together with other rules', async () => {
    const { folder } = await makeProject({ serving: { securityHeaders: true } })
    const immutable = ['downloads/*']
    const { manifest } = await finishThere(folder, { immutable })
    expect(manifest.serving).toEqual({ securityHeaders: true, immutable })
    expect((await finishThere(folder)).manifest.serving).toEqual({ securityHeaders: true, immutable })
  })

  test('reports that a folder has no record', async () => {
    const folder = await makeFolder(files)
    const first = await finishThere(folder)
    expect(first).toMatchObject({ source: 'none', hashedNames: 0 })
    expect(first).not.toHaveProperty('recordedAt')
    expect((await finishThere(folder)).source).toBe('manifest')
  })

  test('writes the same manifest for a copy of the folder', async () => {
    const { root, folder } = await makeProject()
    const copy = join(root, 'elsewhere/copy')
    await mkdir(dirname(copy))
    await cp(folder, copy, { recursive: true })
    await rm(join(copy, '.serve-dist'), { recursive: true })
    const [one, other] = [await finishThere(folder), await finishThere(copy)]
    expect(other.manifest.buildId).toBe(one.manifest.buildId)
    expect(JSON.parse(await readFile(join(copy, manifestPath), 'utf8'))).toEqual(other.manifest)
  })
})
