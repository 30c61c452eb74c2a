import { connect, type Socket } from 'node:net'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { describe, expect, test, vi } from 'vitest'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { dialTls } from '../support/dial-tls.ts'
import { http2Request } from '../support/http2-request.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { type Dial, openConnection } from '../support/open-connection.ts'
import { publishFiles } from '../support/publish-files.ts'
import { formatRequest, rawRequest, type RawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { makeStore } from '../support/start-from-store.ts'
import { startServer } from '../support/start-server.ts'
import { type ReceivedRequest, startTarget } from '../support/start-target.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { twoProcessFlags } from '../support/two-process-flags.ts'
import { withoutUndici } from '../support/without-undici.ts'
import { webSocketHandshake } from '../support/web-socket-handshake.ts'

const files = { 'index.html': 'page' }
const directory = await buildFixture(files)
const upload: RawRequest = { method: 'POST', fields: { 'Content-Length': '5' }, body: 'hello' }

/** Answers with the request, or accepts a WebSocket, echoes its first bytes and closes it. */
function echo({ line, body, values }: ReceivedRequest, socket: Socket): void {
  const text = `${line} ${body}`
  if (values('Upgrade').length === 0) {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`)
    return
  }
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  socket.removeAllListeners('data').on('data', (chunk) => socket.end(chunk))
}

/** The place that a server listens on, and paths that it forwards without their prefix. */
interface Way {
  readonly port: number
  readonly dial?: Dial
  readonly prefixes?: readonly string[]
}

const rulesFor = (url: string) => {
  const redirects = [{ from: '/api/*', to: `${url}/:splat`, status: 200, force: true }] as const
  return { rules: { redirects } }
}

const listen = async (args: readonly string[]): Promise<Way> =>
  await spawnCommand(['--port', '0', ...args]).listening

const ways: readonly [string, (url: string) => Promise<Way>][] = [
  ['serve()', async (url) => await startServer(directory, { site: rulesFor(url) })],
  ['the command', async (url) => await listen([directory, '--proxy', `/api=${url}/`])],
  [
    'two worker processes',
    async (url) => await listen([directory, ...(await twoProcessFlags()), '--proxy', `/api=${url}/`]),
  ],
  ['two workers', async (url) => await listen([directory, '--workers', '2', '--proxy', `/api=${url}/`])],
  [
    'a store',
    async (url) => await startServer(undefined, { ...(await makeStore(files)), site: rulesFor(url) }),
  ],
  [
    'two workers of a store',
    async (url) => {
      const { store, storeCache } = await makeStore(files)
      const flags = ['--store', store, '--store-cache', storeCache, '--workers', '2']
      return await listen([...flags, '--proxy', `/api=${url}/`])
    },
  ],
  [
    'a store whose next build has the first rule',
    async (url) => {
      const place = await makeStore(files)
      const server = await startServer(undefined, place)
      await publishFiles(place.store, { ...files, _redirects: `/api/* ${url}/:splat 200!` })
      // The server may have noticed the build itself.
      expect((await server.reload()).status).toMatch(/swapped|unchanged/)
      return server
    },
  ],
  [
    'two builds with their own rules',
    async (url) => {
      const own = { ...files, _redirects: `/admin/api/* ${url}/:splat 200!` }
      const admin = await buildFixture(own, { base: '/admin/' })
      const both = { directory: [directory, admin] } as object
      const { port } = await startServer(undefined, { ...both, site: rulesFor(url) })
      return { port, prefixes: ['/api', '/admin/api'] }
    },
  ],
  [
    'TLS',
    async (url) => {
      const { port } = await startServer(directory, { site: rulesFor(url), tls: await writeCertificate() })
      const { body } = await http2Request(port, { ...upload, target: '/api/http2?y' })
      expect(body.toString()).toBe('POST /http2?y HTTP/1.1 hello')
      return { port, dial: dialTls }
    },
  ],
  [
    'a unix socket',
    async (url) => {
      const socket = join(await temporaryDirectory(), 'site.sock')
      await startServer(directory, { site: rulesFor(url), socket })
      return { port: 0, dial: () => connect({ path: socket, allowHalfOpen: true }) }
    },
  ],
  [
    'an application beside it',
    async (url) => {
      const text = `export default (request, response) => response.end('app ' + request.url)
        export const upgrade = (request, socket) => socket.end('HTTP/1.1 101 app\\r\\n\\r\\n')`
      const ssr = join(await writeFixture({ 'entry.mjs': text }), 'entry.mjs')
      const { port } = await startServer(directory, { site: rulesFor(url), ssr })
      expect((await rawRequest(port, { target: '/apix' })).body.toString()).toBe('app /apix')
      return { port }
    },
  ],
]

describe('a rule that proxies', () => {
  test.each(ways)('forwards requests, uploads and WebSockets with %s', async (_what, start) => {
    const target = await startTarget(echo)
    const { port, dial, prefixes = ['/api'] } = await start(target.url)
    expect((await rawRequest(port, {}, dial)).body.toString()).toBe('page')
    for (const prefix of prefixes) {
      const { body } = await rawRequest(port, { ...upload, target: `${prefix}/x?y` }, dial)
      expect(body.toString()).toBe('POST /x?y HTTP/1.1 hello')
      const socket = await openConnection(port, dial)
      socket.send(formatRequest({ target: `${prefix}/socket`, fields: webSocketHandshake }))
      expect((await socket.receive()).status).toBe(101)
      socket.send('ping')
      expect((await socket.rest()).toString()).toBe('ping')
    }
  })

  test.each([[[]], [['--workers', '2']]])('stops the start without undici, %j', async (flags) => {
    const args = [directory, '--port', '0', '--proxy', '/api=http://127.0.0.1:1', ...flags]
    const { code, stderr } = await spawnCommand(args, { nodeOptions: withoutUndici }).exited
    expect(code).toBe(1)
    expect(stderr).toContain(
      'serve-dist: SD_PACKAGE_MISSING: a rule that proxies needs the package undici, which is not installed. Run: npm install undici\n',
    )
  })
})

describe('a target with TLS', async () => {
  const certificate = await writeCertificate()
  const tls = { cert: await readFile(certificate.cert, 'utf8'), key: await readFile(certificate.key, 'utf8') }
  const names: unknown[] = []
  const target = await startTarget(
    (request, socket) => {
      names.push(socket instanceof TLSSocket && socket.servername, ...request.values('Host'))
      echo(request, socket)
    },
    { tls, host: '0.0.0.0' },
  )
  const { port } = target
  const start = async (trusted?: string) => {
    const cwd = await writeFixture({
      'serve-dist.config.json': JSON.stringify({
        redirects: [
          { from: '/keep/*', to: `https://localhost:${port}/:splat`, status: 200 },
          { from: '/target/*', to: `https://localhost:${port}/:splat`, status: 200, host: 'target' },
          { from: '/address/*', to: `https://127.0.0.1:${port}/:splat`, status: 200, host: 'target' },
          // The certificate has another address.
          { from: '/other/*', to: `https://127.0.0.2:${port}/:splat`, status: 200, host: 'target' },
        ],
      }),
    })
    const env = trusted === undefined ? {} : { NODE_EXTRA_CA_CERTS: trusted }
    const command = spawnCommand([directory, '--port', '0'], { cwd, env })
    return { port: (await command.listening).port, complaints: command.complaints }
  }

  test('is verified by its name, which is the server name of the handshake', async () => {
    const server = await start(certificate.cert)
    for (const [prefix, serverName, host] of [
      ['keep', 'localhost', 'example.org'],
      ['target', 'localhost', `localhost:${port}`],
      ['address', false, `127.0.0.1:${port}`],
    ]) {
      names.length = 0
      const { body } = await rawRequest(server.port, { ...upload, target: `/${prefix}/x` })
      expect([body.toString(), ...names]).toEqual(['POST /x HTTP/1.1 hello', serverName, host])
    }
  })

  // Other systems have only one loopback address.
  test.skipIf(process.platform !== 'linux').each([
    ['of another address', '/other/x', certificate.cert, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['that no authority signed', '/keep/x', undefined, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ])('is a 502 if it has a certificate %s', async (_what, path, trusted, cause) => {
    const server = await start(trusted)
    names.length = 0
    expect((await rawRequest(server.port, { target: path })).status).toBe(502)
    expect(names).toEqual([])
    await vi.waitFor(() => expect(server.complaints()).toContain(cause))
  })
})
