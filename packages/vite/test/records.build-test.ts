import { join } from 'node:path'
import type { Manifest } from '@serve-dist/manifest'
import { finish, readRecord } from '@serve-dist/precompress'
import { loadSite } from '@serve-dist/server'
import type { Plugin } from 'vite'
import { describe, expect, test } from 'vitest'
import serveDist from '../src/index.ts'
import { finishBuild } from '../src/pass/finish-build.ts'
import { recordingPlugins } from '../src/plugin.ts'
import { application, createProject, type Project, prose } from './support/project.ts'
import { createRecordingLogger } from './support/recording-logger.ts'
import { vites } from './support/vites.ts'

const withServer = { ...application, 'server.js': `export default ${JSON.stringify(prose('server'))}` }

function withoutTimes({ files, lastModified: _changed, ...others }: Manifest): unknown {
  return { ...others, files: files.map(({ lastModified: _seen, ...file }) => file) }
}

/** Makes a page of the client's when a build for a server ends. */
function prerender(project: Project): Plugin {
  return {
    name: 'prerender',
    applyToEnvironment: ({ name }) => name === 'ssr',
    closeBundle: () => project.write('dist/about.html', `<!doctype html><p>${prose('about')}`),
  }
}

describe.each(vites)('the record of a build by $name', ({ load }) => {
  test('says what the bundler knew, with the digests of what other plugins made of it', async () => {
    const { build } = await load()
    const project = await createProject({
      ...application,
      'main.js': `${application['main.js']}; new Worker(new URL('./w.js', import.meta.url), { type: 'module' })`,
      'w.js': `import Inline from './inline.js?worker&inline'; new Inline(); postMessage(${JSON.stringify(prose('worker'))})`,
      'inline.js': 'postMessage(1)',
    })
    const late: Plugin = {
      name: 'late',
      async closeBundle() {
        const lazy = (await project.list()).find((path) => path.includes('lazy-'))
        await project.write(`dist/${lazy}`, prose('rewritten'))
      },
    }
    const plugins = [late, serveDist({ exclude: ['x/**'], minimumSize: 5, serving: { prefer: 'smallest' } })]
    await build(project.config({ plugins, base: '/app/' }))
    const record = readRecord(join(project.root, 'dist'))
    expect(record).toMatchObject({
      role: 'client',
      base: '/app/',
      appType: 'spa',
      assetsDirectory: 'assets',
      selection: { exclude: ['x/**'] },
      minimumSize: 5,
      serving: { prefer: 'smallest' },
      preload: { fonts: false },
      promises: [],
    })
    const { files } = await project.manifest()
    const hashed = files.filter(({ cache }) => cache === 'immutable')
    expect(record?.hashed).toEqual(
      Object.fromEntries(hashed.map(({ path, sha256, stem }) => [path, { sha256, stem }])),
    )
    expect(hashed.map(({ stem = '' }) => stem).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      'assets/index-[hash].css',
      'assets/index-[hash].js',
      'assets/lazy-[hash].js',
      'assets/w-[hash].js',
    ])
    const index = hashed.find(({ stem }) => stem === 'assets/index-[hash].js')?.path ?? ''
    const style = hashed.find(({ stem }) => stem === 'assets/index-[hash].css')?.path
    expect(record?.graph[index]).toEqual({ imports: [], styles: [style] })
    const workers = hashed.filter(({ stem }) => stem === 'assets/w-[hash].js').map(({ path }) => path)
    expect(record?.workers).toEqual(workers)
    expect(files.filter(({ worker }) => worker === true).map(({ path }) => path)).toEqual(workers)
    const reason = 'the inline worker inline.js?worker&inline'
    expect(record?.policy).toEqual([
      { directive: 'worker-src', source: "'self'", reason },
      { directive: 'worker-src', source: 'blob:', reason },
    ])
  })

  test('leads the command to the manifest that the plugin would have made', async () => {
    const { build } = await load()
    const project = await createProject(application)
    const options = { exclude: ['secret.txt'], codings: ['br'], serving: { securityHeaders: true } } as const
    const config = (pass: boolean) =>
      project.config({ plugins: [serveDist({ ...options, pass })], base: '/app/', appType: 'mpa' })
    await build(config(true))
    const expected = await project.manifest()

    await build(config(false))
    expect(await project.list()).toEqual(expect.arrayContaining(['.serve-dist/record.json', 'index.html']))
    await expect(project.manifest()).rejects.toThrow('ENOENT')
    await expect(loadSite(join(project.root, 'dist'))).rejects.toThrow('serve-dist compress')
    await project.write('dist/secret.txt', 'secret')
    const { source } = await finish(join(project.root, 'dist'), { root: project.root })
    expect(source).toBe('record')
    expect(withoutTimes(await project.manifest())).toEqual(withoutTimes(expected))
  })

  test('keeps the code of a server out of the folder around it, also of an earlier build', async () => {
    const { build } = await load()
    const project = await createProject(withServer)
    const logger = createRecordingLogger()
    const config = (outDir: string, ssr?: string) =>
      project.config({
        plugins: [serveDist()],
        customLogger: logger,
        build: { outDir, emptyOutDir: false, ...(ssr !== undefined && { ssr }) },
      })
    await build(config('dist/server', 'server.js'))
    await build(config('dist'))
    expect(Object.keys(await project.classes()).filter((path) => path.includes('server'))).toEqual([])
    expect((await project.list('dist/server')).toSorted()).toEqual(['.serve-dist/record.json', 'server.mjs'])
    expect(logger.warnings).toEqual([expect.stringContaining('server/ is left out')])
  })

  test.each(['first', 'last'])(
    'keeps the code of a server out of the folder that it shares, built %s',
    async (turn) => {
      const { build } = await load()
      const project = await createProject(withServer)
      const config = (ssr?: string) =>
        project.config({
          plugins: [serveDist()],
          customLogger: createRecordingLogger(),
          build: { outDir: 'dist', emptyOutDir: false, ...(ssr !== undefined && { ssr }) },
        })
      const order = turn === 'first' ? ['server.js', undefined] : [undefined, 'server.js']
      for (const ssr of order) await build(config(ssr))
      const { manifest } = await finish(join(project.root, 'dist'), { root: project.root })
      expect(await project.list()).toContain('server.mjs')
      const paths = manifest.files.map(({ path }) => path)
      expect(paths).toContain('index.html')
      expect(paths).not.toContain('server.mjs')
      expect(manifest.selection).toEqual({ exclude: ['server.mjs'] })
      await build(config())
      expect(Object.keys(await project.classes())).not.toContain('server.mjs')
    },
  )

  test('brings what a later build for a server prerendered into a manifest that was made', async () => {
    const { build } = await load()
    const project = await createProject(withServer)
    const logger = createRecordingLogger()
    const plugins = [prerender(project), serveDist()]
    await build(project.config({ plugins, customLogger: logger }))
    const build2 = { outDir: 'server', ssr: 'server.js' }
    await build(project.config({ plugins, customLogger: logger, build: build2 }))
    const { files } = await project.manifest()
    expect(files.find(({ path }) => path === 'about.html')?.variants.length).toBeGreaterThan(0)
    expect(logger.infos.filter((line) => line.includes('variants ('))).toHaveLength(2)
    expect(await project.list('server')).toEqual(['.serve-dist/record.json', 'server.mjs'])
  })

  test('is all that is made where a framework ends the build, and one line says what to add', async () => {
    const { build } = await load()
    const project = await createProject(application)
    const logger = createRecordingLogger()
    // As Astro's: it sets `build.ssr` for all, and the client's environment inherits it.
    const astro: Plugin = { name: 'astro:build' }
    const plugins = [astro, serveDist()]
    await build(project.config({ plugins, customLogger: logger, build: { assetsDir: '_astro' } }))
    expect(logger.warnings).toEqual([
      expect.stringMatching(/Astro .*"@serve-dist\/vite\/astro".*npx @serve-dist\/server compress dist /),
    ])
    await expect(project.manifest()).rejects.toThrow('ENOENT')
    await expect(loadSite(join(project.root, 'dist'))).rejects.toThrow('ended without its compression')
    expect(readRecord(join(project.root, 'dist'))?.promises).toEqual(['_astro/**'])
    expect((await project.list()).filter((path) => /\.(br|gz|zst)$/.test(path))).toEqual([])
  })

  test('keeps no promise of a framework that the patterns of the user break', async () => {
    const { build } = await load()
    const project = await createProject(application)
    const output = { entryFileNames: '_astro/[name].js' }
    const plugins = recordingPlugins({}, 'astro')
    await build(project.config({ plugins, build: { assetsDir: '_astro', rollupOptions: { output } } }))
    expect(readRecord(join(project.root, 'dist'))?.promises).toEqual([])
    const log = createRecordingLogger()
    const promises = ['_astro/**']
    await finishBuild({ folder: 'dist', root: project.root, options: {}, framework: 'astro', promises, log })
    const classes = await project.classes()
    expect(classes['_astro/index.js']).toBe('revalidate')
    expect(Object.values(classes).filter((cache) => cache === 'immutable')).toHaveLength(2)
  })

  test('is written by a clone of the plugin, as Nuxt makes them', async () => {
    const { build } = await load()
    const project = await createProject(application)
    const logger = createRecordingLogger()
    const plugins = serveDist().map((plugin) => Object.assign({}, plugin))
    await build(project.config({ plugins, customLogger: logger }))
    expect(Object.values(await project.classes())).toContain('immutable')
    expect(logger.warnings).toEqual([])
  })

  test('of an environment for browsers counts although all builds are for a server by default', async () => {
    const { createBuilder } = await load()
    const project = await createProject(withServer)
    const builder = await createBuilder(
      project.config({
        plugins: [serveDist()],
        builder: {},
        build: { ssr: true },
        environments: {
          client: {
            build: { outDir: 'dist/client', rollupOptions: { input: join(project.root, 'main.js') } },
          },
          ssr: {
            build: { outDir: 'dist/server', rollupOptions: { input: join(project.root, 'server.js') } },
          },
        },
      }),
    )
    await builder.buildApp()
    expect(Object.keys((await project.manifest('dist/client')).files).length).toBeGreaterThan(1)
    expect(readRecord(join(project.root, 'dist/server'))?.role).toBe('server')
    await expect(project.manifest('dist/server')).rejects.toThrow('ENOENT')
  })
})
