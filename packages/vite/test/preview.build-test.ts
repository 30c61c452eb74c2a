import { rm, truncate } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import previewDist from '@serve-dist/server/vite'
import type { Plugin } from 'vite'
import { describe, expect, onTestFinished, test } from 'vitest'
import serveDist from '../src/index.ts'
import { application, createProject, type Project, prose } from './support/project.ts'
import { vites } from './support/vites.ts'

const page = { accept: 'text/html,application/xhtml+xml' }
async function lazyPath(project: Project): Promise<string> {
  const { files } = await project.manifest()
  return files.find(({ path }) => path.includes('/lazy-'))?.path ?? ''
}

describe.each(vites)('a preview of $name', ({ build, preview }) => {
  test('answers like the production server', async () => {
    const project = await createProject(application)
    const config = { build: { manifest: true } }
    await build(project, config)
    const ask = await preview(project, config)
    const path = await lazyPath(project)

    const script = await ask(`/${path}`, { fields: { 'accept-encoding': 'br' } })
    expect(script).toMatchObject({
      status: 200,
      fields: {
        'content-encoding': 'br',
        'cache-control': 'public, max-age=31536000, immutable',
        'content-length': String(script.body.length),
        vary: expect.stringContaining('Accept-Encoding'),
      },
    })
    expect(brotliDecompressSync(script.body).toString()).toBe(await project.read(`dist/${path}`))
    const etag = String(script.fields['etag'])
    const again = await ask(`/${path}`, { fields: { 'accept-encoding': 'br', 'if-none-match': etag } })
    expect(again.status).toBe(304)
    expect((await ask('/')).fields).toMatchObject({ 'cache-control': 'no-cache' })

    const deep = await ask('/users/jane.doe', { fields: page })
    expect(deep.status).toBe(200)
    expect(deep.body.toString()).toBe(await project.read('dist/index.html'))

    const unknown = [
      '/assets/gone-abcdefgh.js',
      '/data.json',
      '/.serve-dist/manifest.json',
      '/.vite/manifest.json',
      `/${path}.br`,
    ]
    const answers = await Promise.all(unknown.map((target) => ask(target)))
    expect(answers.map(({ status, fields }) => [status, fields['cache-control']])).toEqual(
      unknown.map(() => [404, 'no-store']),
    )
    expect(await ask('/assets/gone-abcdefgh.js', { fields: page })).toMatchObject({ status: 404 })
    expect(await ask(`/${path}`, { method: 'POST' })).toMatchObject({ status: 405 })
    expect(await ask('/nobody', { method: 'POST' })).toMatchObject({ status: 404 })
    expect(await ask(`/${path}`, { method: 'HEAD' })).toMatchObject({ status: 200, body: Buffer.alloc(0) })
  })

  test('serves under the base', async () => {
    const project = await createProject(application)
    const config = { base: '/app/' }
    await build(project, config)
    const ask = await preview(project, config)
    const immutable = { 'cache-control': 'public, max-age=31536000, immutable' }
    expect(await ask(`/app/${await lazyPath(project)}`)).toMatchObject({ status: 200, fields: immutable })
    expect(await ask('/app')).toMatchObject({ status: 308, fields: { location: '/app/' } })
    expect(await ask('/app/deep/link', { fields: page })).toMatchObject({ status: 200 })
    expect(await ask('/app/nobody.js')).toMatchObject({ status: 404 })
    expect(await ask('/elsewhere')).toMatchObject({ status: 404 })
  })

  test('serves under a base with escapes', async () => {
    const project = await createProject(application)
    const config = { base: '/a%2Bb/%40c/' }
    await build(project, config)
    expect(await project.manifest()).toMatchObject({ base: '/a+b/@c/' })
    const ask = await preview(project, config)
    const path = await lazyPath(project)
    expect(await project.read('dist/index.html')).toContain('src="/a%2Bb/%40c/assets/')
    for (const base of ['/a%2Bb/%40c/', '/a+b/@c/']) {
      expect(await ask(`${base}${path}`)).toMatchObject({
        status: 200,
        fields: { 'cache-control': 'public, max-age=31536000, immutable' },
      })
    }
    expect(project.logger.warnings).toEqual([])
  })

  test('rejects a base that cannot be served, like the build, before it starts', async () => {
    const project = await createProject(application)
    const config = { base: '/a%2Fb/' }
    const refusal = /Vite's option "base": "\/a%2Fb\/" cannot be served because of its segment "a%2Fb"/
    await expect(build(project, config)).rejects.toThrow(refusal)
    await expect(preview(project, config)).rejects.toThrow(refusal)
    await expect(project.list()).rejects.toThrow('ENOENT')
  })

  test('answers unknown paths of an application with many pages with 404.html', async () => {
    const project = await createProject({ ...application, 'public/404.html': `<h1>${prose('missing')}` })
    const config = { appType: 'mpa' } as const
    await build(project, config)
    const ask = await preview(project, config)
    const missing = await ask('/nobody', { fields: { ...page, 'accept-encoding': 'br' } })
    expect(missing).toMatchObject({
      status: 404,
      fields: { 'content-encoding': 'br', 'cache-control': 'no-store' },
    })
    expect(brotliDecompressSync(missing.body).toString()).toContain('missing')
  })

  test('supports proxies and other plugins', async () => {
    const project = await createProject(application)
    const upstream = createServer((incoming, response) => response.end(`upstream ${incoming.url}`))
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
    const { port } = Object(upstream.address())
    onTestFinished(() => void upstream.close())
    const others: Plugin = {
      name: 'others',
      configurePreviewServer({ middlewares }) {
        middlewares.use('/before', (_request, response) => response.end('before'))
        return () => {
          middlewares.use('/behind', (_request, response) => response.end('behind'))
        }
      },
    }
    const config = {
      plugins: [serveDist(), others],
      preview: { proxy: { '/api': `http://127.0.0.1:${port}` }, headers: { 'x-preview': 'yes' } },
    }
    await build(project, config)
    const ask = await preview(project, config)
    expect((await ask('/api/users?x=1', { fields: page })).body.toString()).toBe('upstream /api/users?x=1')
    expect((await ask('/before', { fields: page })).body.toString()).toBe('before')
    expect((await ask('/behind', { method: 'POST' })).body.toString()).toBe('behind')
    expect((await ask('/')).fields['x-preview']).toBe('yes')
  })

  test('lets an application with its own server answer unknown paths', async () => {
    const project = await createProject(application)
    const renderer: Plugin = {
      name: 'renderer',
      configurePreviewServer:
        ({ middlewares }) =>
        () => {
          middlewares.use((_request, response) => response.end('rendered'))
        },
    }
    const config = { plugins: [serveDist(), renderer], appType: 'custom' as const }
    await build(project, config)
    const ask = await preview(project, config)
    expect((await ask('/users/1', { fields: page })).body.toString()).toBe('rendered')
    expect((await ask(`/${await lazyPath(project)}`)).fields['cache-control']).toContain('immutable')
    expect((await ask('/.serve-dist/manifest.json')).status).toBe(404)
  })

  test('prints no warning if an application sets the folder only in builds', async () => {
    const project = await createProject(application)
    // SvelteKit and Vike do this.
    const framework: Plugin = {
      name: 'framework',
      config: (_config, { isPreview }) => ({
        appType: 'custom',
        ...(isPreview !== true && { build: { outDir: 'dist/client' } }),
      }),
    }
    const config = { plugins: [framework, serveDist()] }
    await build(project, config)
    expect(Object.keys(await project.classes('dist/client'))).toContain('index.html')
    await preview(project, config)
    expect(project.logger.warnings).toEqual([])
  })

  test("keeps Vite's checks of host and origin", async () => {
    const project = await createProject(application)
    await build(project)
    const ask = await preview(project)
    expect((await ask('/', { fields: { host: 'evil.example' } })).status).toBe(403)
    const origin = 'http://localhost:5173'
    const shared = await ask('/', { fields: { origin } })
    expect(shared).toMatchObject({ status: 200, fields: { 'access-control-allow-origin': origin } })
  })

  test('serves a new build without a restart', async () => {
    const project = await createProject(application)
    await build(project)
    const ask = await preview(project)
    const old = await lazyPath(project)
    await project.write('lazy.js', `export default ${JSON.stringify(prose('second'))}`)
    await build(project)
    expect(await ask(`/${await lazyPath(project)}`)).toMatchObject({ status: 200 })
    expect(await ask(`/${old}`)).toMatchObject({ status: 404 })
  })

  test("is Vite's own, with a warning, if there is no manifest", async () => {
    const project = await createProject(application)
    await build(project, { plugins: [] })
    const ask = await preview(project)
    expect(project.logger.warnings).toEqual([expect.stringMatching(/dist cannot be served[^]*no manifest/)])
    expect((await ask('/')).status).toBe(200)
  })

  test('warns if the folder does not exist', async () => {
    const project = await createProject(application)
    await preview(project)
    expect(project.logger.warnings).toEqual([
      expect.stringMatching(/dist cannot be served[^]*does not exist/),
    ])
  })

  test("is Vite's own, with a warning that names the files, if the build is incomplete", async () => {
    const project = await createProject({ ...application, 'public/gone.txt': prose('gone') })
    await build(project)
    await truncate(join(project.root, 'dist/index.html'), 1)
    await rm(join(project.root, 'dist/gone.txt'))
    const ask = await preview(project)
    expect(project.logger.warnings).toEqual([expect.stringMatching(/gone\.txt[^]*index\.html/)])
    expect((await ask(`/${await lazyPath(project)}`)).status).toBe(200)
  })

  test("is Vite's own, with a warning, if the base differs from the build's", async () => {
    const project = await createProject(application)
    await build(project, { base: '/one/' })
    await preview(project, { base: '/two/' })
    expect(project.logger.warnings).toEqual([expect.stringContaining('"/one/" but this preview has "/two/"')])
  })

  test.each(['before', 'behind'])('uses only previewDist if the plugin is %s', async (place) => {
    const project = await createProject(application)
    const own = previewDist({ rules: { headers: { '**': { 'X-By': 'previewDist' } } } })
    const plugins = place === 'before' ? [own, serveDist()] : [serveDist(), own]
    const config = { plugins }
    await build(project, { plugins: [] })
    await preview(project, config)
    expect(project.logger.warnings).toEqual([expect.stringContaining('no manifest')])
    await build(project, config)
    const ask = await preview(project, config)
    expect((await ask(`/${await lazyPath(project)}`)).fields).toMatchObject({
      'x-by': 'previewDist',
      'cache-control': 'public, max-age=31536000, immutable',
    })
  })
})
