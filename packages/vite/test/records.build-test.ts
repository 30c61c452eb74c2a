import { join } from 'node:path'
import type { Manifest } from '@serve-dist/manifest'
import { finish, readRecord } from '@serve-dist/precompress'
import { loadSite } from '@serve-dist/server'
import type { Plugin } from 'vite'
import { describe, expect, test } from 'vitest'
import serveDist from '../src/index.ts'
import { finishBuild } from '../src/compression/finish-build.ts'
import { recordingPlugins } from '../src/plugin.ts'
import { application, createProject, type Project, prose } from './support/project.ts'
import { createRecordingLogger } from './support/recording-logger.ts'
import { vites } from './support/vites.ts'

const withServer = { ...application, 'server.js': `export default ${JSON.stringify(prose('server'))}` }

function withoutTimes({ files, lastModified: _changed, ...others }: Manifest): unknown {
  return { ...others, files: files.map(({ lastModified: _seen, ...file }) => file) }
}

/** Writes a page of the client at the end of a server build. */
function prerender(project: Project): Plugin {
  return {
    name: 'prerender',
    applyToEnvironment: ({ name }) => name === 'ssr',
    closeBundle: () => project.write('dist/about.html', `<!doctype html><p>${prose('about')}`),
  }
}

describe.each(vites)('the record of a build by $name', ({ build, buildApp }) => {
  test('contains the facts of the bundler, with digests of the final files', async () => {
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
    await build(project, { plugins, base: '/app/' })
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

  test('makes the command write the same manifest as the plugin', async () => {
    const project = await createProject(application)
    const options = { exclude: ['secret.txt'], codings: ['br'], serving: { securityHeaders: true } } as const
    const config = (pass: boolean) => ({
      plugins: [serveDist({ ...options, pass })],
      base: '/app/',
      appType: 'mpa' as const,
    })
    await build(project, config(true))
    const expected = await project.manifest()

    await build(project, config(false))
    expect(await project.list()).toEqual(expect.arrayContaining(['.serve-dist/record.json', 'index.html']))
    await expect(project.manifest()).rejects.toThrow('ENOENT')
    await expect(loadSite(join(project.root, 'dist'))).rejects.toThrow('serve-dist compress')
    await project.write('dist/secret.txt', 'secret')
    const { source } = await finish(join(project.root, 'dist'), { root: project.root })
    expect(source).toBe('record')
    expect(withoutTimes(await project.manifest())).toEqual(withoutTimes(expected))
  })

  test('keeps server code out of the surrounding folder, also of an earlier build', async () => {
    const project = await createProject(withServer)
    await build(project, { build: { outDir: 'dist/server', emptyOutDir: false, ssr: 'server.js' } })
    await build(project, { build: { emptyOutDir: false } })
    expect(Object.keys(await project.classes()).filter((path) => path.includes('server'))).toEqual([])
    expect((await project.list('dist/server')).toSorted()).toEqual(['.serve-dist/record.json', 'server.mjs'])
    expect(project.logger.warnings).toEqual([expect.stringContaining('excluded server/')])
  })

  test.each(['first', 'last'])('keeps server code out of a shared folder, built %s', async (turn) => {
    const project = await createProject(withServer)
    const client = { build: { emptyOutDir: false } }
    const server = { build: { emptyOutDir: false, ssr: 'server.js' } }
    for (const config of turn === 'first' ? [server, client] : [client, server]) await build(project, config)
    const { manifest } = await finish(join(project.root, 'dist'), { root: project.root })
    expect(await project.list()).toContain('server.mjs')
    const paths = manifest.files.map(({ path }) => path)
    expect(paths).toContain('index.html')
    expect(paths).not.toContain('server.mjs')
    expect(manifest.selection).toEqual({ exclude: ['server.mjs'] })
    await build(project, client)
    expect(Object.keys(await project.classes())).not.toContain('server.mjs')
  })

  test('adds pages that a later server build prerendered to an existing manifest', async () => {
    const project = await createProject(withServer)
    const plugins = [prerender(project), serveDist()]
    await build(project, { plugins })
    const build2 = { outDir: 'server', ssr: 'server.js' }
    await build(project, { plugins, build: build2 })
    const { files } = await project.manifest()
    expect(files.find(({ path }) => path === 'about.html')?.variants.length).toBeGreaterThan(0)
    expect(project.logger.infos.filter((line) => /\d variants\b.* in /.test(line))).toHaveLength(2)
    expect(await project.list('server')).toEqual(['.serve-dist/record.json', 'server.mjs'])
  })

  test('is the only output if a framework ends the build, with one warning', async () => {
    const project = await createProject(application)
    // Astro sets `build.ssr` for all environments, and the client's environment inherits it.
    const astro: Plugin = { name: 'astro:build' }
    const plugins = [astro, serveDist()]
    await build(project, { plugins, build: { assetsDir: '_astro' } })
    expect(project.logger.warnings).toEqual([
      expect.stringMatching(/Astro .*"@serve-dist\/vite\/astro".*npx @serve-dist\/server compress dist /),
    ])
    await expect(project.manifest()).rejects.toThrow('ENOENT')
    await expect(loadSite(join(project.root, 'dist'))).rejects.toThrow('ended without its compression')
    expect(readRecord(join(project.root, 'dist'))?.promises).toEqual(['_astro/**'])
    expect((await project.list()).filter((path) => /\.(br|gz|zst)$/.test(path))).toEqual([])
  })

  test("contains no promise that the user's patterns break", async () => {
    const project = await createProject(application)
    const output = { entryFileNames: '_astro/[name].js' }
    const plugins = recordingPlugins({}, 'astro')
    await build(project, { plugins, build: { assetsDir: '_astro', rollupOptions: { output } } })
    expect(readRecord(join(project.root, 'dist'))?.promises).toEqual([])
    const log = createRecordingLogger()
    const promises = ['_astro/**']
    await finishBuild({ folder: 'dist', root: project.root, options: {}, promises, log })
    const classes = await project.classes()
    expect(classes['_astro/index.js']).toBe('revalidate')
    expect(Object.values(classes).filter((cache) => cache === 'immutable')).toHaveLength(2)
  })

  test('is written by a clone of the plugin, as Nuxt makes it', async () => {
    const project = await createProject(application)
    const plugins = serveDist().map((plugin) => Object.assign({}, plugin))
    await build(project, { plugins })
    expect(Object.values(await project.classes())).toContain('immutable')
    expect(project.logger.warnings).toEqual([])
  })

  test('covers a client environment although builds are for a server by default', async () => {
    const project = await createProject(withServer)
    await buildApp(project, {
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
    })
    expect(Object.keys((await project.manifest('dist/client')).files).length).toBeGreaterThan(1)
    expect(readRecord(join(project.root, 'dist/server'))?.role).toBe('server')
    await expect(project.manifest('dist/server')).rejects.toThrow('ENOENT')
  })
})
