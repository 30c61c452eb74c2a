import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { rawExchange } from '../support/raw-exchange.ts'
import { requestTwice } from '../support/request-twice.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

let directory: string
let server: StartedServer
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': 'page' })
  server = await startServer(directory, { allowHosts: ['example.com', '*.apps.example'] })
})

describe('allowed hosts', () => {
  test.each(['example.com', 'EXAMPLE.COM:8080', 'a.apps.example'])('%s is served', async (host) => {
    expect((await requestTwice(server.port, { fields: { Host: host } })).status).toBe(200)
  })

  test.each(['evil.example', 'apps.example', 'example.com.evil.example', '127.0.0.1'])(
    '%j gets 421, which caches must not keep',
    async (host) => {
      const response = await requestTwice(server.port, { fields: { Host: host } })
      expect([response.status, response.body.toString()]).toEqual([421, '421 Misdirected Request\n'])
      expect(response.field('Cache-Control')).toBe('no-store')
      const head = await requestTwice(server.port, { method: 'HEAD', fields: { Host: host } })
      expect([head.status, head.body.length]).toEqual([421, 0])
    },
  )

  test('apply to the host of an absolute target (RFC 9112 §3.2.2)', async () => {
    const elsewhere = { target: 'http://evil.example/', fields: { Host: 'example.com' } }
    expect((await requestTwice(server.port, elsewhere)).status).toBe(421)
    const here = { target: 'http://a@example.com:80/', fields: { Host: 'evil.example' } }
    expect((await requestTwice(server.port, here)).status).toBe(200)
  })

  test('reject requests without a Host', async () => {
    const answer = await rawExchange(server.port, 'GET / HTTP/1.0\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 421 Misdirected Request\r\n/)
  })

  test('keep the connection in sync after a 421', async () => {
    const answer = await rawExchange(
      server.port,
      'GET / HTTP/1.1\r\nHost: evil.example\r\n\r\nGET / HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n',
    )
    expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['421', '200'])
  })
})

describe('--allow-host', () => {
  test.each([
    [['--allow-host', 'a.example', '--allow-host', 'b.example'], {}],
    [['--allow-host', 'a.example,b.example'], {}],
    [[], { ALLOW_HOST: 'a.example, b.example' }],
  ])('come from flags and the environment: %j %j', async (args, env: Record<string, string>) => {
    const command = spawnCommand([directory, '--port', '0', ...args], { env })
    const { port } = await command.listening
    const statusOf = async (Host: string) => (await requestTwice(port, { fields: { Host } })).status
    expect(await Promise.all(['a.example', 'b.example', 'c.example'].map(statusOf))).toEqual([200, 200, 421])
    command.child.kill('SIGTERM')
    await command.exited
  })

  test('must be valid host names', async () => {
    const { code, stderr } = await spawnCommand([directory, '--allow-host', 'http://a/']).exited
    expect([code, stderr]).toEqual([1, expect.stringContaining('expected a host name such as example.com')])
  })
})
