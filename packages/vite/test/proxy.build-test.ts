import { once } from 'node:events'
import { createServer, request as open } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import serveDist from '../src/index.ts'
import { application, createProject } from './support/project.ts'
import { request } from './support/request.ts'
import { vites } from './support/vites.ts'

/** A target that answers with its name, the request target and a field, and accepts WebSockets. */
async function startTarget(name: string): Promise<string> {
  const server = createServer(({ url, headers }, response) => {
    response.setHeader('X-Gone', '1')
    response.end(`${name} ${url} ${String(headers['x-token'])}`)
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

describe.each(vites)('rules that proxy in $name', ({ load, build, preview }) => {
  test('apply to the development server and to the preview', async () => {
    const [backend, local, own] = [
      await startTarget('backend'),
      await startTarget('local'),
      await startTarget('own'),
    ]
    const project = await createProject(application)
    const fields = { request: { 'X-Token': 'a' }, answer: { 'X-Gone': null } }
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

    const vite = await load()
    const server = await vite.createServer(project.config(config))
    onTestFinished(() => server.close())
    await server.listen()
    const address = server.httpServer?.address()
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0
    const dev = await request(port, '/api/x?y')
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
})
