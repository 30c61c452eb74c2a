import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

let directory: string
let server: StartedServer
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': 'page', 'status/index.html': 'status page' })
  server = await startServer(directory, {
    allowHosts: ['example.com'],
    site: { rules: { health: '/healthz', redirects: [{ from: '/*', to: '/', status: 302 }] } },
  })
})

describe('the health path', () => {
  test.each(['/healthz', '/healthz?probe=1', '/%68ealthz'])(
    'answers %s with 200 before the check of the host and before wildcard rules',
    async (target) => {
      const answer = await rawRequest(server.port, { target, fields: { Host: '10.0.0.7:8080' } })
      expect([answer.status, answer.body.toString()]).toEqual([200, 'ok\n'])
      expect(answer.field('Cache-Control')).toBe('no-store')
    },
  )

  test('answers HEAD without a body, and other methods with 405', async () => {
    const head = await rawRequest(server.port, { method: 'HEAD', target: '/healthz' })
    expect([head.status, head.field('Content-Length'), head.body.length]).toEqual([200, '3', 0])
    const post = await rawRequest(server.port, { method: 'POST', target: '/healthz' })
    expect([post.status, post.field('Allow')]).toEqual([405, 'GET, HEAD'])
  })

  test.each(['/healthz/', '/healthz/x', '/Healthz'])('does not include %s', async (target) => {
    const answer = await rawRequest(server.port, { target, fields: { Host: 'example.com' } })
    expect(answer.status).toBe(302)
  })

  test('answers 503 while the server stops', async () => {
    const stopping = await startServer(directory, { site: { rules: { health: '/healthz' } } })
    const connection = await openConnection(stopping.port)
    const [half, rest] = ['GET /healthz HTTP/1.1\r\nHo', 'st: a\r\n\r\n']
    connection.send(half)
    // A later answer shows that the server has read the earlier bytes.
    await rawRequest(stopping.port)
    const closed = stopping.close()
    connection.send(rest)
    const answer = await connection.receive()
    expect([answer.status, answer.body.toString()]).toEqual([503, 'stopping\n'])
    expect(answer.field('Cache-Control')).toBe('no-store')
    await closed
  })

  test('keeps the connection in sync', async () => {
    const connection = await openConnection(server.port)
    const fields = { Host: 'example.com' }
    connection.send(formatRequest({ target: '/healthz', fields }) + formatRequest({ target: '/', fields }))
    expect((await connection.receive()).body.toString()).toBe('ok\n')
    expect((await connection.receive()).body.toString()).toBe('page')
    connection.socket.destroy()
    await once(connection.socket, 'close')
  })
})

describe('a conflict with the health path', () => {
  test.each([
    ['a file', { health: '/status/' }, 'health: the build has /status/. Choose another path.'],
    ['a redirect of the build', { health: '/status' }, 'health: the build has /status. Choose another path.'],
    [
      'a rule',
      { health: '/up', redirects: [{ from: '/up', to: '/' }] },
      'health: a redirect rule has the path /up. Choose another path, or remove the rule.',
    ],
  ])('with %s stops the start', async (_what, rules, message) => {
    await expect(startServer(directory, { site: { rules } })).rejects.toThrow(message)
  })

  test('of a later build makes the server refuse that build', async () => {
    const folder = await buildFixture({ 'index.html': 'first' })
    const running = await startServer(folder, { site: { rules: { health: '/up' } } })
    await writeFile(join(folder, '_redirects'), '/up / 302\n')
    const { precompress } = await import('@serve-dist/precompress')
    await precompress(folder)
    expect(await running.reload()).toMatchObject({ status: 'refused' })
    expect((await rawRequest(running.port, { target: '/up' })).body.toString()).toBe('ok\n')
  })

  test('is a path with a query or a wildcard', async () => {
    for (const health of ['healthz', '//healthz', '/a?b', '/a/*', '/:name']) {
      await expect(startServer(directory, { site: { rules: { health } } })).rejects.toThrow(
        'health: expected',
      )
    }
  })
})

describe('--health', () => {
  test('answers with and without workers, and is not in the access log', async () => {
    for (const flags of [[], ['--workers', '2']]) {
      const command = spawnCommand([
        directory,
        '--port',
        '0',
        '--access-log',
        'json',
        '--health',
        '/up',
        ...flags,
      ])
      const { port } = await command.listening
      expect((await rawRequest(port, { target: '/up' })).body.toString()).toBe('ok\n')
      expect((await rawRequest(port, { target: '/' })).body.toString()).toBe('page')
      command.child.kill('SIGTERM')
      const { code, stdout } = await command.exited
      expect([code, stdout.match(/"target":"[^"]*"/g)]).toEqual([0, ['"target":"/"']])
    }
  })

  test('has the variable HEALTH', async () => {
    const command = spawnCommand([directory, '--port', '0'], { env: { HEALTH: '/up' } })
    const { port } = await command.listening
    expect((await rawRequest(port, { target: '/up' })).status).toBe(200)
    command.child.kill('SIGTERM')
    await command.exited
  })
})
