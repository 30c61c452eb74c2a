import { join } from 'node:path'
import { manifestPath, variantPath } from '@serve-dist/manifest'
import type { EnvironmentOptions } from 'vite'
import { describe, expect, test } from 'vitest'
import serveDist from '../src/index.ts'
import { application, createProject, prose } from './support/project.ts'
import { vites } from './support/vites.ts'

const recordPath = '.serve-dist/record.json'

function environment(outDir: string, input: string): EnvironmentOptions {
  return { build: { outDir, emptyOutDir: false, rollupOptions: { input } } }
}

describe.each(vites)('serveDist with $name', ({ build, buildApp, load }) => {
  test('describes and compresses an application with its public folder and its page', async () => {
    const project = await createProject({
      ...application,
      'index.html': `${application['index.html']}<p>${prose('page')}`,
      'public/data/words.txt': prose('words'),
    })
    await build(project)
    const manifest = await project.manifest()
    expect(manifest).toMatchObject({ base: '/', appType: 'spa', assetsDirectory: 'assets' })
    const compressed = manifest.files.filter(({ variants }) => variants.length >= 2).map(({ path }) => path)
    expect(compressed).toEqual(expect.arrayContaining(['data/words.txt', 'index.html']))
    expect(compressed.filter((path) => /^assets\/.*\.(js|css)$/.test(path))).toHaveLength(3)
    const variants = manifest.files.flatMap((file) =>
      file.variants.map(({ coding }) => variantPath(file.path, coding)),
    )
    const originals = manifest.files.map(({ path }) => path)
    expect(await project.list()).toEqual([...originals, ...variants, manifestPath, recordPath].toSorted())
    expect(project.logger.warnings).toEqual([])
    expect(project.logger.infos.at(-1)).toContain('data/words.txt')
  })

  test('applies its options', async () => {
    const project = await createProject({ ...application, 'public/private/notes.txt': prose('notes') })
    const options = { codings: ['br'], exclude: ['private/**'], minimumSize: 2500 } as const
    await build(project, { plugins: [serveDist(options)] })
    const { files } = await project.manifest()
    expect(files.map(({ path }) => path)).not.toContain('private/notes.txt')
    expect(new Set(files.flatMap(({ variants }) => variants.map(({ coding }) => coding)))).toEqual(
      new Set(['br']),
    )
    expect(files.find(({ size }) => size < 2500 && size > 1024)?.variants ?? []).toEqual([])
  })

  test('warns about globs that match no file, except for types of files', async () => {
    const project = await createProject(application)
    const serving = { immutable: ['asets/**'] }
    await build(project, { plugins: [serveDist({ exclude: ['**/*.map', 'assets\\**'], serving })] })
    const folder = join(project.root, 'dist')
    expect(project.logger.warnings).toEqual([
      `[serve-dist] exclude assets\\**, immutable asets/**: no file in ${folder} matches. Separate folders with "/" instead of "\\", on every system.`,
    ])
  })

  test.skipIf(process.platform === 'win32')('compresses a folder with a backslash in its name', async () => {
    const project = await createProject(application)
    await build(project, { build: { outDir: 'a\\b' } })
    expect((await project.manifest('a\\b')).files.map(({ path }) => path)).toContain('index.html')
  })

  test('rejects invalid options before the build', () => {
    expect(() => serveDist({ minimumSize: -1 })).toThrow(/minimumSize/)
  })

  test.each([
    ['/app/', '/app/'],
    ['./', '/'],
    ['', '/'],
    ['https://cdn.example.com/v1/', '/v1/'],
  ])('serves a build of base %j under %s', async (base, expected) => {
    const project = await createProject(application)
    await build(project, { base })
    expect((await project.manifest()).base).toBe(expected)
  })

  test("uses Vite's folder, assets directory and type of application", async () => {
    const project = await createProject(
      Object.fromEntries(Object.entries(application).map(([path, text]) => [`app/${path}`, text])),
    )
    await build(project, {
      appType: 'mpa',
      root: join(project.root, 'app'),
      build: { outDir: '../built/site', emptyOutDir: true, assetsDir: './static/js/' },
    })
    const manifest = await project.manifest('built/site')
    expect(manifest).toMatchObject({ appType: 'mpa', assetsDirectory: 'static/js' })
    expect(manifest.files.filter(({ cache }) => cache === 'immutable')).toHaveLength(3)
  })

  test('writes a manifest for each folder of several outputs', async () => {
    const project = await createProject(application)
    await build(project, {
      build: {
        rollupOptions: {
          output: [
            { dir: join(project.root, 'dist/a') },
            { dir: join(project.root, 'dist/b'), entryFileNames: 'entry.js' },
          ],
        },
      },
    })
    expect(await project.classCounts('dist/a')).toEqual({ immutable: 3, revalidate: 1 })
    expect(await project.classCounts('dist/b')).toEqual({ immutable: 2, revalidate: 2 })
    expect(await project.classes('dist/b')).toHaveProperty(['entry.js'], 'revalidate')
  })

  test('describes a nested folder in the outer manifest', async () => {
    const project = await createProject(application)
    await build(project, {
      build: { rollupOptions: { output: [{}, { dir: join(project.root, 'dist/second') }] } },
    })
    const classes = await project.classes()
    const second = Object.keys(classes).filter((path) => path.startsWith('second/'))
    expect(second.map((path) => classes[path]).toSorted()).toEqual([
      'immutable',
      'immutable',
      'immutable',
      'revalidate',
    ])
    await expect(project.manifest('dist/second')).rejects.toThrow('ENOENT')
  })

  test('only records a build for a server', async () => {
    const project = await createProject({ 'server.js': `export default ${JSON.stringify(prose('server'))}` })
    await build(project, { build: { ssr: 'server.js' } })
    expect(await project.list()).toEqual([recordPath, 'server.mjs'])
  })

  test('does nothing if Vite writes no files', async () => {
    const project = await createProject(application)
    await build(project, { build: { write: false } })
    await expect(project.list()).rejects.toThrow('ENOENT')
  })

  test('does nothing in a dev server', async () => {
    const { createServer } = await load()
    const project = await createProject({ ...application, 'dist/index.html': prose('earlier') })
    const server = await createServer(
      project.config({ plugins: [serveDist()], server: { middlewareMode: true, ws: false } }),
    )
    await server.transformRequest('/main.js')
    await server.close()
    expect(await project.list()).toEqual(['index.html'])
  })

  test('removes its own old variants only, if the folder is not emptied', async () => {
    const project = await createProject(application)
    const config = { build: { emptyOutDir: false } }
    await build(project, config)
    await project.write('dist/own.txt', prose('own'))
    await project.write('dist/own.csv.gz', 'a file of the user')
    const before = await project.list()
    const lazy = before.find((path) => /lazy-.*\.js$/.test(path)) ?? ''
    expect(before).toContain(`${lazy}.br`)

    // The new build does not compress the old chunk, because it is too small now.
    await project.write(`dist/${lazy}`, 'tiny')
    await project.write('lazy.js', `export default ${JSON.stringify(prose('changed'))}`)
    await build(project, config)
    const after = await project.list()
    expect(after).toContain(lazy)
    expect(after).not.toContain(`${lazy}.br`)
    expect(after).toEqual(expect.arrayContaining(['own.csv.gz', 'own.txt', 'own.txt.br']))
    expect(await project.classes()).toMatchObject({ [lazy]: 'revalidate', 'own.csv.gz': 'revalidate' })
  })

  test.each([false, true])(
    'compresses only client environments (shared configuration: %s)',
    async (sharedConfigBuild) => {
      const project = await createProject({
        ...application,
        'server.js': `export default ${JSON.stringify(prose('server'))}`,
        'widget.js': `console.log(${JSON.stringify(prose('widget'))})`,
        'dist/client/server/left-over.js': prose('secret'),
      })
      await buildApp(project, {
        builder: {
          sharedConfigBuild,
          async buildApp(app) {
            for (const one of Object.values(app.environments)) await app.build(one)
          },
        },
        environments: {
          client: environment('dist/client', join(project.root, 'index.html')),
          ssr: environment('dist/client/server', join(project.root, 'server.js')),
          edge: { ...environment('dist/edge', join(project.root, 'server.js')), consumer: 'server' },
          widget: { ...environment('dist/widget', join(project.root, 'widget.js')), consumer: 'client' },
        },
      })
      const client = await project.classes('dist/client')
      expect(Object.keys(client).filter((path) => path.includes('server'))).toEqual([])
      expect(await project.classCounts('dist/client')).toEqual({ immutable: 3, revalidate: 1 })
      expect(Object.entries(await project.classes('dist/widget'))).toEqual([
        [expect.stringMatching(/^assets\/widget-/), 'immutable'],
      ])
      await expect(project.manifest('dist/edge')).rejects.toThrow('ENOENT')
      await expect(project.manifest('dist/client/server')).rejects.toThrow('ENOENT')
      expect(await project.list('dist/client/server')).toEqual([recordPath, 'left-over.js', 'server.mjs'])
    },
  )

  test('separates concurrent builds', async () => {
    const one = await createProject(application)
    const two = await createProject({
      ...application,
      'lazy.js': `export default ${JSON.stringify(prose('two'))}`,
    })
    await Promise.all([
      build(one),
      build(two, { plugins: [serveDist({ codings: ['gzip'] })], base: '/two/' }),
    ])
    expect((await one.manifest()).base).toBe('/')
    const second = await two.manifest()
    expect(second.base).toBe('/two/')
    expect(new Set(second.files.flatMap(({ variants }) => variants.map(({ coding }) => coding)))).toEqual(
      new Set(['gzip']),
    )
    for (const project of [one, two]) {
      expect(await project.classCounts()).toEqual({ immutable: 3, revalidate: 1 })
    }
  })
})
