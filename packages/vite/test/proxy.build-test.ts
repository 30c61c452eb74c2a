import { once } from 'node:events'
import { createServer, request as open } from 'node:http'
import { join } from 'node:path'
import { serve } from '@serve-dist/server'
import type { InlineConfig } from 'vite'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import serveDist from '../src/index.ts'
import { application, createProject } from './support/project.ts'
import { request } from './support/request.ts'
import { type TestedVite, vites } from './support/vites.ts'

/** A target that answers with its name, the request target and a field, and accepts WebSockets. */
async function startTarget(name: string): Promise<string> {
  const server = createServer(({ url, headers }, response) => {
    response.setHeader('X-Gone', '1')
    response.end(`${name} ${url} ${headers.cookie ?? String(headers['x-token'])}`)
  })
  server.on('upgrade', ({ url }, socket) => {
    socket.end(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-At: ${url}\r\n\r\n`,
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

/** Starts a development server until the test ends. Returns its port. */
async function startDevelopment(
  { createServer: create }: Awaited<ReturnType<TestedVite['load']>>,
  config: InlineConfig,
): Promise<number> {
  const server = await create(config)
  onTestFinished(() => server.close())
  await server.listen()
  const address = server.httpServer?.address()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

describe.each(vites)('rules that proxy in $name', ({ load, build, preview }) => {
  test('apply to the development server and to the preview', async () => {
    const [backend, local, own] = [
      await startTarget('backend'),
      await startTarget('local'),
      await startTarget('own'),
    ]
    const project = await createProject(application)
    const fields = { request: { 'X-Token': 'a', Cookie: null }, answer: { 'X-Gone': null } }
    const redirects = [
      { from: '/api/*', to: `${backend}/v1/:splat`, status: 200, force: true, development: local, ...fields },
      { from: '/own/*', to: backend, status: 200, force: true },
      { from: '/*', to: backend, status: 200 },
    ] as const
    const config = {
      plugins: [serveDist({ serving: { redirects } })],
      server: { port: 0, host: '127.0.0.1', proxy: { '/own': own }, watch: null },
    }
    await build(project, config)

    const port = await startDevelopment(await load(), project.config(config))
    const dev = await request(port, '/api/x?y', { fields: { cookie: 'a=b' } })
    expect(dev.body.toString()).toBe('local /v1/x?y a')
    expect(dev.fields).not.toHaveProperty('x-gone')
    expect((await request(port, '/own/x')).body.toString()).toBe('own /own/x undefined')
    expect((await request(port, '/apidocs', { fields: { accept: 'text/html' } })).body.toString()).toContain(
      '<script',
    )
    const headers = { connection: 'Upgrade', upgrade: 'websocket' }
    const [handshake] = await once(
      open({ host: '127.0.0.1', port, path: '/api/live', headers }).end(),
      'upgrade',
    )
    expect(handshake.headers['x-at']).toBe('/v1/live')
    handshake.socket.destroy()

    const ask = await preview(project, config)
    expect((await ask('/api/x?y')).body.toString()).toBe('backend /v1/x?y a')
    expect((await ask('/own/x')).body.toString()).toBe('own /own/x undefined')
    expect((await ask('/')).body.toString()).toBe(await project.read('dist/index.html'))
    expect((await ask('/rest')).body.toString()).toBe('backend /rest undefined')
  })

  test('get addresses of .env files, below a relative envDir', async () => {
    const backend = await startTarget('backend')
    const project = await createProject({ ...application, 'stages/.env': `SD_TEST_API=${backend}` })
    const redirects = [
      { from: '/api/*', to: { env: 'SD_TEST_API' }, status: 200, force: true },
      {
        from: '/auth/*',
        to: { env: 'SD_TEST_API', path: '/v1/:splat' },
        status: 200,
        force: true,
        development: backend,
      },
      { from: '/*', to: { env: 'SD_TEST_API' }, status: 200 },
    ] as const
    const config = {
      envDir: 'stages',
      plugins: [serveDist({ serving: { redirects } })],
      server: { port: 0, host: '127.0.0.1', watch: null },
    }
    await build(project, config)
    const development = await startDevelopment(await load(), project.config(config))
    expect((await request(development, '/api/x')).body.toString()).toBe('backend /api/x undefined')
    const ask = await preview(project, config)
    expect((await ask('/api/x')).body.toString()).toBe('backend /api/x undefined')
    expect((await ask('/')).body.toString()).toBe(await project.read('dist/index.html'))
    expect((await ask('/rest')).body.toString()).toBe('backend /rest undefined')
    expect(project.logger.warnings).toEqual([])

    await project.write('stages/.env', '')
    const unset = await startDevelopment(await load(), project.config(config))
    expect((await request(unset, '/auth/x')).body.toString()).toBe('backend /v1/x undefined')
    expect((await request(unset, '/api/x')).body.toString()).toContain('<script')
    expect(project.logger.warnings).toEqual([
      expect.stringContaining('/api/* are not forwarded: SD_TEST_API is not set'),
    ])
  })

  test('send the same paths as the server', async () => {
    const backend = await startTarget('')
    vi.stubEnv('SD_TEST_API', `${backend}/v1/`)
    onTestFinished(() => void vi.unstubAllEnvs())
    const project = await createProject(application)
    const env = 'SD_TEST_API'
    const rules = [
      ['/a', `${backend}/:splat`],
      ['/b', `${backend}/:splat/c`],
      ['/c', `${backend}/fixed`],
      ['/d', { env }],
      ['/e', { env, path: '/e/:splat' }],
    ] as const
    const redirects = rules.map(([prefix, to]) => ({ from: `${prefix}/*`, to, status: 200 }) as const)
    const exact = { from: '/f', to: `${backend}/g`, status: 200 } as const
    const config = {
      plugins: [serveDist({ serving: { redirects: [...redirects, exact] } })],
      server: { port: 0, host: '127.0.0.1', watch: null },
    }
    await build(project, config)
    const port = await startDevelopment(await load(), project.config(config))
    const site = await serve({ directory: join(project.root, 'dist'), port: 0 })
    onTestFinished(() => site.close())
    for (const [path, arrived] of [
      ['/a?q', '/?q'],
      ['/a/x/y?q=/a/', '/x/y?q=/a/'],
      ['/b/x', '/x/c'],
      ['/c/x?q', '/fixed?q'],
      ['/d', '/v1'],
      ['/d/x', '/v1/x'],
      ['/e/', '/v1/e/'],
      ['/e/x', '/v1/e/x'],
      ['/f?q', '/g?q'],
    ] as const) {
      const bodies = [await request(port, path), await request(Number(new URL(site.url).port), path)].map(
        ({ body }) => String(body),
      )
      expect([path, ...bodies]).toEqual([path, ` ${arrived} undefined`, ` ${arrived} undefined`])
    }
    expect((await request(port, '/f/x', { fields: { accept: 'text/html' } })).body.toString()).toContain(
      '<script',
    )
  })
})
