import { loadEngine } from '@serve-dist/engine'
import { createPrivateKey } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { connect as connectTcp, type Socket } from 'node:net'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { connectionLimits } from '../../src/protocol/connection-limits.ts'
import type { Site } from '../../src/site/site.ts'
import type { RequestListener } from '../../src/transport/transport.ts'
import { acceptUpgrade } from '../../src/send/upgrade.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { makeCertificate, writeCertificate } from '../support/make-certificate.ts'
import { formatRequest } from '../support/raw-request.ts'
import { pemToBase64, readPeerCertificate } from '../support/read-peer-certificate.ts'
import { startEngineOverTls } from '../support/start-engine-over-tls.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startServer } from '../support/start-server.ts'
import { type StartedTlsServer, startTlsServer } from '../support/start-tls-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const script = compressibleText(300_000)
const large = Buffer.alloc(16 * 1024 * 1024, 'abcdefg')
const pageRequest = formatRequest({ target: '/' })

let site: Site
beforeAll(async () => {
  site = await loadSite(await buildFixture({ 'index.html': 'page', 'app.js': script, 'large.bin': large }), {
    largestBody: Infinity,
  })
})

const open = new Set<Socket>()
afterEach(() => {
  for (const socket of open) socket.destroy()
  open.clear()
})

/** Opens a TLS connection and waits for the handshake. */
async function dial(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
  socket.allowHalfOpen = true
  open.add(socket)
  await once(socket, 'secureConnect')
  return socket
}

async function dialTcp(port: number): Promise<Socket> {
  const socket = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true })
  open.add(socket)
  await once(socket, 'connect')
  return socket
}

/** Reads until this text arrives. Returns all received text. */
async function until(socket: Socket, text: string): Promise<string> {
  let received = ''
  const take = (chunk: Buffer): void => {
    received += chunk.toString('latin1')
  }
  socket.on('data', take).resume()
  while (!received.includes(text)) await once(socket, 'data')
  socket.off('data', take).pause()
  return received
}

/** Reads to the end of the TLS stream. Rejects if the server sends no close_notify alert. */
async function rest(socket: Socket): Promise<Buffer> {
  return await buffer(socket)
}

const engines = [
  ['node', startTlsServer],
  ['native', startEngineOverTls],
] as const

describe.skipIf(typeof loadEngine() === 'string').each(engines)('over TLS, the %s engine', (name, start) => {
  const startSite = async (options: Parameters<typeof start>[1] = {}): Promise<StartedTlsServer> => {
    const handle = createHandler(site)
    const listener: RequestListener = (request, response) => handle(request, response)
    return await (name === 'native' ? startEngineOverTls(listener, options, site) : start(listener, options))
  }
  let server: StartedTlsServer
  beforeAll(async () => {
    server = await startSite()
  })

  test.each([
    ['one piece', '/app.js', script.length],
    ['many', '/large.bin', large.length],
  ])('sends a body of %s whole, repeatedly', async (_size, target, length) => {
    const socket = await dial(server.port)
    const request = formatRequest({ target })
    socket.write(request + request + formatRequest({ target, fields: { Connection: 'close' } }))
    const received = (await rest(socket)).toString('latin1')
    const bodies = received.split(/HTTP\/1\.1 200 OK\r\n.*?\r\n\r\n/s).slice(1)
    expect(bodies.map((body) => body.length)).toEqual([length, length, length])
  })

  test('sends a large body whole to a client that reads late, and serves others in that time', async () => {
    const slow = await dial(server.port)
    slow.pause()
    slow.write(formatRequest({ target: '/large.bin', fields: { Connection: 'close' } }))
    const other = await dial(server.port)
    for (let count = 0; count < 3; count += 1) {
      other.write(pageRequest)
      expect(await until(other, 'page')).toContain('200 OK')
    }
    const received = await rest(slow)
    expect(received.subarray(-large.length).equals(large)).toBe(true)
  })

  test('continues after a client leaves in mid-body', async () => {
    const leaving = await dial(server.port)
    leaving.write(formatRequest({ target: '/large.bin' }))
    await once(leaving, 'data')
    leaving.destroy()
    const socket = await dial(server.port)
    socket.write(pageRequest)
    expect(await until(socket, 'page')).toContain('200 OK')
  })

  test('answers a client that closed its half', async () => {
    const socket = await dial(server.port)
    socket.end(formatRequest({ target: '/app.js' }))
    expect((await rest(socket)).toString('latin1').endsWith(script)).toBe(true)
  })

  test('answers a client that closed its half without a TLS alert', async () => {
    const tcp = await dialTcp(server.port)
    const socket = connectTls({ socket: tcp, rejectUnauthorized: false })
    open.add(socket)
    await once(socket, 'secureConnect')
    const written = new Promise((resolve) => socket.write(formatRequest({ target: '/app.js' }), resolve))
    await written
    tcp.end()
    expect(await until(socket, script.slice(-100))).toContain('200 OK')
  })

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('speaks %s and resumes its sessions', async (version) => {
    const options = { minVersion: version, maxVersion: version } as const
    const first = await dial(server.port, options)
    expect(first.getProtocol()).toBe(version)
    let session: Buffer | undefined
    first.on('session', (given: Buffer) => (session = given))
    first.write(pageRequest)
    await until(first, 'page')
    session ??= first.getSession()
    expect(first.isSessionReused()).toBe(false)
    // Each thread must know the session.
    for (let count = 0; count < 6; count += 1) {
      const next = await dial(server.port, { ...options, session })
      expect(next.isSessionReused()).toBe(true)
      next.write(pageRequest)
      expect(await until(next, 'page')).toContain('200 OK')
    }
  })

  test('rejects TLS 1.1', async () => {
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    await expect(dial(server.port, old)).rejects.toThrow(/alert (?:protocol version|handshake failure)/)
  })

  test('rejects a client that offers only unsupported protocols', async () => {
    await expect(dial(server.port, { ALPNProtocols: ['spdy/3'] })).rejects.toThrow(/no application protocol/i)
  })

  test.each([
    [['http/1.1', 'h2'], 'h2'],
    [['http/1.1'], 'http/1.1'],
    [undefined, false],
  ] as const)('selects for a client that offers %j the protocol %j', async (protocols, agreed) => {
    const options = protocols === undefined ? {} : { ALPNProtocols: [...protocols] }
    expect((await dial(server.port, options)).alpnProtocol).toBe(agreed)
  })

  test.each([
    ['plain HTTP', pageRequest],
    ['noise', Buffer.alloc(5000, 'noise')],
    ['a record that is too long', Buffer.of(22, 3, 1, 255, 255, ...Buffer.alloc(100))],
    ['nothing', ''],
  ])('closes a connection that starts with %s, and serves the next one', async (_what, octets) => {
    const socket = await dialTcp(server.port)
    // The close may be a reset if the server has not read everything.
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {}).resume()
    socket.end(octets)
    await closed
    const next = await dial(server.port)
    next.write(pageRequest)
    expect(await until(next, 'page')).toContain('200 OK')
  })

  test('closes a connection with altered records', async () => {
    const tcp = await dialTcp(server.port)
    const socket = connectTls({ socket: tcp, rejectUnauthorized: false })
    open.add(socket)
    await once(socket, 'secureConnect')
    const failed = new Promise((resolve) => socket.once('error', resolve))
    tcp.write(Buffer.concat([Buffer.of(23, 3, 3, 0, 40), Buffer.alloc(40, 'x')]))
    expect(await failed).toMatchObject({ message: expect.stringContaining('bad record mac') })
  })

  describe('with short limits', () => {
    const limits = {
      ...connectionLimits,
      headersTimeout: 300,
      keepAliveTimeout: 300,
      connectionsCheckingInterval: 50,
    }
    let hasty: StartedTlsServer
    beforeAll(async () => {
      hasty = await startSite({ limits })
    })

    test.each([
      ['does not start', []],
      ['does not end', [Buffer.of(22, 3, 1, 2, 0, 1)]],
    ])('closes a connection whose handshake %s, without a response', async (_what, octets) => {
      const socket = await dialTcp(hasty.port)
      for (const each of octets) socket.write(each)
      const received: Buffer[] = []
      socket.on('data', (chunk: Buffer) => received.push(chunk)).on('error', () => {})
      await Promise.race([once(socket, 'end'), once(socket, 'close')])
      expect(Buffer.concat(received)).toHaveLength(0)
    })

    test('answers a slow head with 408', async () => {
      const socket = await dial(hasty.port)
      socket.write('GET / HTTP/1.1\r\nHos')
      expect((await rest(socket)).toString('latin1')).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
    })

    test('closes an idle connection', async () => {
      const socket = await dial(hasty.port)
      socket.write(pageRequest)
      expect((await rest(socket)).toString('latin1')).toMatch(/page$/)
    })
  })

  test('uses a new certificate for new connections, and keeps the open ones', async () => {
    const own = await startSite()
    const before = await dial(own.port)
    const next = makeCertificate({ name: 'next.example' })
    own.setCredentials({ cert: Buffer.from(next.cert), key: Buffer.from(next.key), validFrom: 0, validTo: 0 })
    expect(await readPeerCertificate(own.port)).toBe(pemToBase64(next.cert))
    before.write(pageRequest)
    expect(await until(before, 'page')).toContain('200 OK')
  })

  test('closes idle connections at a stop, drops handshakes, and finishes responses', async () => {
    const own = await startSite()
    const [idle, busy] = [await dial(own.port), await dial(own.port)]
    idle.write(pageRequest)
    await until(idle, 'page')
    busy.pause()
    busy.write(formatRequest({ target: '/large.bin' }))
    await once(busy, 'readable')
    await dialTcp(own.port)
    // The timeout exceeds the test's. A stop that waits for it fails the test.
    const drained = own.drain(600_000)
    await rest(idle)
    const received = await rest(busy)
    expect(received.subarray(-large.length).equals(large)).toBe(true)
    await drained
  })
})

describe.skipIf(typeof loadEngine() === 'string')('serves over TLS with the native engine', () => {
  const files = { 'index.html': 'page', 'app.js': script, 'empty.txt': '' }

  test('sends the same octets as Node', async () => {
    const directory = await buildFixture(files)
    const tls = await writeCertificate()
    const node = await startServer(directory, { engine: 'node', tls })
    const native = await startServer(directory, { engine: 'native', tls })
    const tag = /ETag: (\S+)/.exec(await exchange(native, [formatRequest({ target: '/app.js' })]))?.[1] ?? ''
    const requests = [
      ...['/', '/app.js', '/empty.txt', '/no/such', '/index.html'].flatMap((target) =>
        ['GET', 'HEAD', 'OPTIONS', 'POST'].map((method) => ({ method, target })),
      ),
      { target: '/app.js', fields: { 'If-None-Match': tag } },
      { target: '/app.js', fields: { 'Accept-Encoding': 'gzip, br' } },
      { target: '/app.js', fields: { Range: 'bytes=5-10' } },
      { target: '/', fields: { Host: '' } },
    ].map(formatRequest)
    // The first round fills the engine's table.
    for (const request of [...requests, ...requests]) {
      expect(await exchange(native, [request])).toBe(await exchange(node, [request]))
    }
    expect(await exchange(native, requests)).toBe(await exchange(node, requests))
  })

  test('has https in its URL, and redirects to its port', async () => {
    const directory = await buildFixture(files)
    const tls = { ...(await writeCertificate()), redirectPort: 0, hsts: '1y' }
    const { url, redirectUrl = '', port } = await startServer(directory, { engine: 'native', tls })
    expect(url).toBe(`https://127.0.0.1:${port}/`)
    const redirect = await fetch(redirectUrl, { redirect: 'manual' })
    expect([redirect.status, redirect.headers.get('location')]).toEqual([308, url])
    const answer = await exchange({ port }, [pageRequest])
    expect(answer).toContain('\r\nStrict-Transport-Security: max-age=31536000\r\n')
  })

  test('accepts the common kinds of keys', async () => {
    const directory = await buildFixture(files)
    const pair = await writeCertificate()
    const key = createPrivateKey(await readFile(pair.key)).export({ type: 'sec1', format: 'pem' })
    await writeFile(
      pair.key,
      `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${key.toString()}`,
    )
    const server = await startServer(directory, { engine: 'native', tls: pair })
    expect(await exchange(server, [pageRequest])).toContain('200 OK')
  })

  test('reads its files again, and keeps the old certificate if the engine cannot use the new one', async () => {
    const pair = await writeCertificate()
    const server = await startServer(await buildFixture(files), { engine: 'native', tls: pair })
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const next = makeCertificate()
    await Promise.all([writeFile(pair.cert, next.cert), writeFile(pair.key, next.key)])
    await server.reload()
    expect(await readPeerCertificate(server.port)).toBe(pemToBase64(next.cert))
    const odd = makeCertificate({ curve: 'secp256k1' })
    await Promise.all([writeFile(pair.cert, odd.cert), writeFile(pair.key, odd.key)])
    await server.reload()
    expect(await readPeerCertificate(server.port)).toBe(pemToBase64(next.cert))
    expect(stderr.mock.calls.join('')).toMatch(
      /cert\.pem: the native engine cannot use this certificate \([^]*still using the previous certificate/,
    )
    stderr.mockRestore()
  })

  test('explains that the engine cannot use a key that only OpenSSL supports', async () => {
    const odd = await writeCertificate({ curve: 'secp256k1' })
    const starting = startServer(await buildFixture(files), { engine: 'native', tls: odd })
    await expect(starting).rejects.toMatchObject({
      code: 'SD_ENGINE_UNAVAILABLE',
      message: expect.stringContaining('it cannot use the certificate: '),
    })
  })

  test.each([
    '--tls-min-v1.3',
    '--tls-max-v1.2',
    '--tls-cipher-list=ECDHE-ECDSA-AES128-GCM-SHA256',
    '--tls-keylog=/dev/null',
  ])('leaves %s to the Node engine, which supports it', async (flag) => {
    const { cert, key } = await writeCertificate()
    const args = [await buildFixture(files), '--port', '0', '--tls-cert', cert, '--tls-key', key]
    const command = spawnCommand([...args, '--engine', 'auto'], { nodeOptions: [flag] })
    const { line, port } = await command.listening
    expect(line).toContain(` · engine: node (no support for ${flag.replace(/=.*/, '')} of Node) · `)
    const old = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, maxVersion: 'TLSv1.2' })
    const refused = await once(old, 'secureConnect').then(
      () => false,
      () => true,
    )
    old.destroy()
    expect(refused).toBe(flag === '--tls-min-v1.3')
    command.child.kill('SIGTERM')
    await command.exited
  })

  test('serves a unix socket, and stops', async () => {
    const socket = join(await temporaryDirectory(), 'socket')
    const tls = await writeCertificate()
    const server = await startServer(await buildFixture(files), { engine: 'native', tls, socket })
    expect(server.url).toBe(`https://unix:${socket}:/`)
    const client = connectTls({ path: socket, rejectUnauthorized: false })
    open.add(client)
    await once(client, 'secureConnect')
    client.write(pageRequest)
    expect(await until(client, 'page')).toContain('200 OK')
    await server.close()
  })
})

/** Returns the responses to all requests on one connection, without dates. */
async function exchange({ port }: { readonly port: number }, requests: readonly string[]): Promise<string> {
  const socket = await dial(port)
  socket.end(requests.join(''))
  return (await rest(socket)).toString('latin1').replaceAll(/\r\nDate: [^\r]*/g, '')
}

/** TLS record types (RFC 8446 §5.1). */
const [alert, data] = [21, 23]

/** Returns the types of received TLS 1.2 records in order. */
function typesOf(octets: Buffer): number[] {
  const types: number[] = []
  for (let place = 0; place < octets.length; place += 5 + octets.readUInt16BE(place + 3))
    types.push(octets.readUInt8(place))
  return types
}

/** Returns the facts that an application can read from a socket. */
function factsOf(socket: Socket): unknown[] {
  if (!isEncrypted(socket)) return []
  const { encrypted, authorized, authorizationError, alpnProtocol, servername, remoteAddress } = socket
  const facts = [encrypted, authorized, authorizationError, alpnProtocol, servername, remoteAddress]
  return [
    ...facts,
    socket.getProtocol(),
    socket.getCipher(),
    socket.getPeerCertificate(),
    socket.isSessionReused(),
  ]
}

function isEncrypted(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket
}

describe.skipIf(typeof loadEngine() === 'string').each(engines)(
  'an application behind TLS and the %s engine',
  (_name, start) => {
    const events = new EventEmitter()
    const answers: Readonly<Record<string, RequestListener>> = {
      '/echo': (request, response) => request.pipe(response),
      '/facts': ({ socket }, response) => response.end(JSON.stringify(factsOf(socket))),
      '/whole': (_request, response) => {
        response.useChunkedEncodingByDefault = false
        response.write('a part', () => response.end())
      },
      '/part': (_request, response) => {
        response.useChunkedEncodingByDefault = false
        response.write('a part', () => response.destroy())
      },
      '/ws': (_request, response) => {
        const taken = acceptUpgrade(response)
        taken?.socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
        )
        taken?.socket.pipe(taken.socket)
      },
      '/events': (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('first')
        response.once('close', () => events.emit('gone'))
        events.on('next', () => response.write('second'))
      },
    }
    let server: StartedTlsServer
    beforeAll(async () => {
      const options = { takesUploads: true, takesUpgrades: true }
      server = await start((request, response) => answers[request.url ?? '']?.(request, response), options)
    })

    test('receives a large body and sends it back', async () => {
      const socket = await dial(server.port)
      const fields = { 'Content-Length': `${large.length}`, Connection: 'close' }
      socket.write(formatRequest({ method: 'POST', target: '/echo', fields }))
      socket.write(large)
      const received = (await rest(socket)).toString('latin1')
      expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
      expect(received.replaceAll(/[^a-g]/g, '').includes('abcdefg'.repeat(2000))).toBe(true)
    })

    test('sends a response in parts, and notices that the client leaves', async () => {
      const socket = await dial(server.port)
      const gone = once(events, 'gone')
      socket.write(formatRequest({ target: '/events' }))
      await until(socket, 'first')
      events.emit('next')
      expect(await until(socket, 'second')).toContain('second')
      socket.destroy()
      // As with Node, a half-closed client may still want the rest, until a write fails.
      const writing = setInterval(() => events.emit('next'), 10)
      await gone
      clearInterval(writing)
    })

    test.each(['TLSv1.2', 'TLSv1.3'] as const)(
      'knows the protocol, the cipher and the name of a connection over %s',
      async (maxVersion) => {
        const socket = await dial(server.port, {
          maxVersion,
          servername: 'a.example',
          ALPNProtocols: ['http/1.1'],
        })
        const cipher = socket.getCipher()
        socket.write(formatRequest({ target: '/facts', fields: { Connection: 'close' } }))
        const [, body = ''] = (await rest(socket)).toString().split('\r\n\r\n')
        const agreed = [
          true,
          false,
          null,
          'http/1.1',
          'a.example',
          '127.0.0.1',
          maxVersion,
          cipher,
          {},
          false,
        ]
        expect(JSON.parse(body)).toEqual(agreed)
      },
    )

    test.each([
      ['/whole', [alert]],
      ['/part', []],
    ])('sends an alert at the end of a whole response only: %s', async (target, last) => {
      const tcp = await dialTcp(server.port)
      const seen: Buffer[] = []
      const wire = new Duplex({
        read() {},
        write: (chunk: Buffer, _coding, done) => tcp.write(chunk, done),
      })
      tcp.on('data', (chunk: Buffer) => {
        seen.push(chunk)
        wire.push(chunk)
      })
      const socket = connectTls({ socket: wire, rejectUnauthorized: false, maxVersion: 'TLSv1.2' })
      open.add(socket)
      await once(socket, 'secureConnect')
      socket.write(formatRequest({ target, fields: { Connection: 'close' } }))
      await Promise.all([until(socket, 'a part'), once(tcp, 'end')])
      const types = typesOf(Buffer.concat(seen))
      expect(types.slice(types.indexOf(data) + 1).filter((type) => type !== data)).toEqual(last)
    })

    test('upgrades a connection', async () => {
      const socket = await dial(server.port)
      socket.write(formatRequest({ target: '/ws', fields: { Connection: 'Upgrade', Upgrade: 'websocket' } }))
      expect(await until(socket, '\r\n\r\n')).toContain('101')
      socket.write('there and back')
      expect(await until(socket, 'there and back')).toBe('there and back')
      socket.end()
      expect(await rest(socket)).toHaveLength(0)
    })
  },
)
