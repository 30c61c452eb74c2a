import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { open as openFile, readFile, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { type Connection, openConnection } from '../support/open-connection.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { type RunningCommand, spawnCommand } from '../support/spawn-command.ts'
import { stopCommand } from '../support/stop-command.ts'
import { startServer } from '../support/start-server.ts'

/** An application that uses the features of Node's HTTP API. `/api/seen` returns what it observed. */
const application = `
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
const seen = { gone: [], flooded: 0, upgrades: 0 }
let events
const answers = {
  ping: (_request, response) => response.end('pong'),
  seen: (_request, response) => response.end(JSON.stringify(seen)),
  peer: ({ socket }, response) => response.end(socket.remoteAddress + ' ' + socket.remotePort),
  names: ({ rawHeaders }, response) => response.writeHead(200, { 'X-mIxEd': 'Kept' }).end(JSON.stringify(rawHeaders)),
  early: (_request, response) => response.writeHead(413, { Connection: 'close' }).end('too much'),
  async upload(request, response) {
    const hash = createHash('sha256')
    for await (const chunk of request) hash.update(chunk)
    response.end(JSON.stringify([hash.digest('hex'), request.rawTrailers]))
  },
  trailers(_request, response) {
    response.writeHead(200, { Trailer: 'X-Sum', 'Content-Type': 'application/octet-stream' }).write('body')
    response.addTrailers({ 'X-Sum': '4' })
    response.end()
  },
  hints(_request, response) {
    response.writeEarlyHints({ link: '</a.js>; rel=preload; as=script' })
    response.end('hinted')
  },
  events(_request, response) {
    events = response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    events.write('data: first\\n\\n')
  },
  next(_request, response) {
    events.write('data: second\\n\\n')
    response.end()
  },
  wait: (request, response) => response.once('close', () => seen.gone.push(request.url)),
  async flood(_request, response) {
    const chunk = Buffer.alloc(65536, 'flood')
    response.setMaxListeners(0).writeHead(200, { 'Content-Type': 'application/octet-stream' })
    while (!response.destroyed && seen.flooded < 2 ** 29) {
      seen.flooded += chunk.length
      if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve))
    }
  },
  hold: () => {},
  async closing({ socket }, response) {
    // Events of other connections wait until the pipe is read.
    writeFileSync(process.env.TEST_FIFO, 'busy')
    response.end(readFileSync(process.env.TEST_FIFO))
    socket.server.closeIdleConnections()
  },
  block: (_request, response) => response.end(readFileSync(process.env.TEST_FIFO)),
  socket({ socket }, response) {
    if (socket.server.listenerCount('upgrade') > 0) return response.end()
    socket.server.on('upgrade', (request, raw, head) => {
      raw.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\n\\r\\n')
      raw.write(head)
      raw.pipe(raw)
    })
    response.end()
  },
}
export default (request, response, next) => {
  const name = request.url.split(/[/?]/)[2]
  if (request.url.startsWith('/api/')) return answers[name](request, response)
  next()
}
`

const page = compressibleText(3000, 'page')
const large = compressibleText(900_000)
/** The maximum that sockets and streams buffer between both ends. A flood is 512 MiB. */
const heldOnTheWay = 24 * 1024 * 1024

const open = new Set<Socket>()
afterEach(() => {
  for (const socket of open) socket.destroy()
  open.clear()
})

interface Client {
  readonly socket: Socket
  /** Waits for a text, and returns all received text. */
  readonly until: (text: string) => Promise<string>
  /** Waits until the server has closed. */
  readonly rest: () => Promise<string>
}

async function dial(port: number): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  open.add(socket)
  let received = ''
  socket.setEncoding('latin1').on('data', (text) => {
    received += String(text)
  })
  await once(socket, 'connect')
  // From here on, a reset counts as the end.
  socket.on('error', () => {})
  return {
    socket,
    async until(text) {
      while (!received.includes(text)) await once(socket, 'data')
      return received
    },
    async rest() {
      if (!socket.readableEnded) await Promise.race([once(socket, 'end'), once(socket, 'close')])
      return received
    },
  }
}

let build: string
beforeAll(async () => {
  build = await buildFixture({ 'index.html': page, 'large.bin': large })
})

describe.each(['node', 'native'] as const)('the %s engine', (engine) => {
  let port: number
  let files: number
  beforeAll(async () => {
    const modules = await writeFixture({ 'entry.mjs': application })
    port = (await startServer(build, { engine, ssr: join(modules, 'entry.mjs') })).port
    files = (await startServer(build, { engine })).port
  })

  async function seen(): Promise<{ gone: string[]; flooded: number }> {
    return JSON.parse((await rawRequest(port, { target: '/api/seen' })).body.toString())
  }

  test('keeps a connection that gets responses of the build and of the application in turn', async () => {
    const connection = await openConnection(port)
    for (let turn = 0; turn < 20; turn += 1) {
      connection.send(formatRequest({}))
      expect((await connection.receive()).body.toString()).toBe(page)
      connection.send(formatRequest({ target: '/api/ping' }))
      const pong = await connection.receive()
      expect([pong.body.toString(), pong.field('Connection')]).toEqual(['pong', 'keep-alive'])
    }
    connection.socket.end()
    expect(await connection.rest()).toHaveLength(0)
  })

  test('relays an upload with its length, and keeps the connection', async () => {
    const body = compressibleText(1_000_000)
    const connection = await openConnection(port)
    const fields = { 'Content-Length': String(body.length) }
    connection.send(
      formatRequest({ method: 'POST', target: '/api/upload', fields }) + body + formatRequest({}),
    )
    const told = JSON.parse((await connection.receive()).body.toString())
    expect(told).toEqual([createHash('sha256').update(body).digest('hex'), []])
    expect((await connection.receive()).body.toString()).toBe(page)
    connection.socket.destroy()
  })

  test('relays a chunked upload with its trailers', async () => {
    const connection = await openConnection(port)
    const fields = { 'Transfer-Encoding': 'chunked' }
    connection.send(formatRequest({ method: 'POST', target: '/api/upload', fields }))
    for (const part of ['5;x=y\r\nhello\r\n', '1\r\n!\r\n', '0\r\nX-Sum: 6\r\n\r\n']) {
      await nextTurn()
      connection.send(part)
    }
    const told = JSON.parse((await connection.receive()).body.toString())
    expect(told).toEqual([createHash('sha256').update('hello!').digest('hex'), ['X-Sum', '6']])
    connection.send(formatRequest({}))
    expect((await connection.receive()).status).toBe(200)
    connection.socket.destroy()
  })

  test('sends 100 to request a body', async () => {
    const connection = await openConnection(port)
    const fields = { Expect: '100-continue', 'Content-Length': '5' }
    connection.send(formatRequest({ method: 'POST', target: '/api/upload', fields }))
    expect((await connection.receive()).status).toBe(100)
    connection.send('hello')
    expect((await connection.receive()).status).toBe(200)
    connection.socket.destroy()
  })

  test('rejects another expectation with 417', async () => {
    const { status } = await rawRequest(port, { target: '/api/ping', fields: { Expect: 'more' } })
    expect(status).toBe(417)
  })

  test('sends a response that starts before the upload ends', async () => {
    const connection = await openConnection(port)
    const size = 4_000_000
    const fields = { 'Content-Length': String(size) }
    connection.send(formatRequest({ method: 'POST', target: '/api/early', fields }) + 'x'.repeat(size / 2))
    const { status, body } = await connection.receive()
    expect([status, body.toString()]).toEqual([413, 'too much'])
    connection.socket.destroy()
  })

  test('relays a connection to an application that upgrades it', async () => {
    await rawRequest(port, { target: '/api/socket' })
    const { socket, until } = await dial(port)
    socket.write(formatRequest({}))
    await until(page)
    const fields = { Connection: 'Upgrade', Upgrade: 'echo' }
    socket.write(`${formatRequest({ target: '/api/socket', fields })}first`)
    await until('101 Switching Protocols')
    await until('first')
    const long = `GET / HTTP/1.1\r\n\r\n${'x'.repeat(500_000)}last`
    socket.write(long)
    expect((await until('last')).endsWith(`first${long}`)).toBe(true)
    socket.end()
    expect((await dial(port).then((client) => client.socket.end() && client.rest())).length).toBe(0)
  })

  test('rejects CONNECT', async () => {
    for (const each of [port, files]) {
      const { socket, rest } = await dial(each)
      socket.write('CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n')
      expect(await rest()).toMatch(
        /^HTTP\/1\.1 405 .*\r\nAllow: GET, HEAD, OPTIONS\r\nConnection: close\r\n\r\n$/,
      )
    }
  })

  test('streams events as they occur', async () => {
    const { socket, until } = await dial(port)
    socket.write(formatRequest({ target: '/api/events' }))
    expect(await until('data: first\n\n')).not.toContain('second')
    await rawRequest(port, { target: '/api/next' })
    await until('data: second\n\n')
  })

  test.each(['end', 'resetAndDestroy'] as const)(
    'notifies the application of a client that disconnects by %s',
    async (leave) => {
      const { socket } = await dial(port)
      const target = `/api/wait?${leave}`
      socket.write(formatRequest({ target }))
      // The event has arrived when another connection gets its response.
      await rawRequest(port, { target: '/api/ping' })
      expect((await seen()).gone).not.toContain(target)
      socket[leave]()
      await vi.waitFor(async () => expect((await seen()).gone).toContain(target))
    },
  )

  test('sends the whole response to a client that closed its half', async () => {
    for (const [target, end] of [
      ['/large.bin', large],
      ['/none.js', '404 Not Found\n'],
    ] as const) {
      const { socket, rest } = await dial(files)
      socket.end(formatRequest({}) + formatRequest({ target }))
      expect((await rest()).endsWith(`\r\n\r\n${end}`)).toBe(true)
    }
  })

  test('applies backpressure to an application if the client does not read', async () => {
    const { socket } = await dial(port)
    socket.pause()
    socket.write(formatRequest({ target: '/api/flood' }))
    let flooded = -1
    await vi.waitFor(
      async () => {
        const now = (await seen()).flooded
        const [last, isStill] = [flooded, now === flooded && now > 0]
        flooded = now
        expect([last, isStill]).toEqual([now, true])
      },
      { timeout: 10_000, interval: 300 },
    )
    expect(flooded).toBeLessThan(heldOnTheWay)
  })

  test('applies backpressure to a client if the application does not read its upload', async () => {
    const { socket } = await dial(port)
    const size = 2 ** 29
    const fields = { 'Content-Length': String(size) }
    socket.write(formatRequest({ method: 'POST', target: '/api/hold', fields }))
    const chunk = Buffer.alloc(2 ** 20)
    let taken = 0
    while (taken < size) {
      const isTaken = await new Promise<boolean>((resolve) => {
        socket.write(chunk, () => resolve(true))
        setTimeout(resolve, 1000, false)
      })
      if (!isTaken) break
      taken += chunk.length
    }
    expect(taken).toBeLessThan(heldOnTheWay)
  })

  test('sends trailers', async () => {
    const { socket, until } = await dial(port)
    socket.write(formatRequest({ target: '/api/trailers' }))
    const text = await until('X-Sum: 4\r\n\r\n')
    expect(text).toMatch(/\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 4\r\n\r\n$/)
    socket.write(formatRequest({}))
    await until(page)
  })

  test('sends early hints', async () => {
    const connection = await openConnection(port)
    connection.send(formatRequest({ target: '/api/hints' }))
    const hints = await connection.receive()
    expect([hints.status, hints.field('Link')]).toEqual([103, '</a.js>; rel=preload; as=script'])
    expect((await connection.receive()).body.toString()).toBe('hinted')
    connection.socket.destroy()
  })

  test('keeps the case of field names', async () => {
    const fields = { 'x-LOWER-upper': 'a', ACCEPT: '*/*' }
    const response = await rawRequest(port, { target: '/api/names', fields })
    const names = ['Host', 'example.org', 'x-LOWER-upper', 'a', 'ACCEPT', '*/*', 'Connection', 'close']
    expect(JSON.parse(response.body.toString())).toEqual(names)
    expect(response.fields).toContainEqual(['X-mIxEd', 'Kept'])
  })

  test('answers malformed input with 400, after a response of the build or of the application', async () => {
    for (const target of ['/', '/api/ping']) {
      const connection = await openConnection(port)
      connection.send(formatRequest({ target }))
      await connection.receive()
      connection.send('nothing of the kind\r\n\r\n')
      expect((await connection.receive()).status).toBe(400)
      expect(await connection.rest()).toHaveLength(0)
    }
  })

  test('answers pipelined requests in order', async () => {
    const connection = await openConnection(port)
    const targets = [
      '/',
      '/api/ping',
      '/api/names',
      '/',
      '/',
      '/none.js',
      '/large.bin',
      '/api/peer',
      '/api/ping',
      '/',
    ]
    connection.send(targets.map((target) => formatRequest({ target })).join(''))
    const answers = []
    while (answers.length < targets.length) {
      const { status, body } = await connection.receive()
      answers.push([status, body.toString('latin1', 0, 4)])
    }
    const start = page.slice(0, 4)
    expect(answers).toEqual([
      [200, start],
      [200, 'pong'],
      [200, '["Ho'],
      [200, start],
      [200, start],
      [404, '404 '],
      [200, large.slice(0, 4)],
      [200, '127.'],
      [200, 'pong'],
      [200, start],
    ])
    connection.socket.end()
    expect(await connection.rest()).toHaveLength(0)
  })

  test("reports the client's address and port to the application", async () => {
    const connection = await openConnection(port)
    connection.send(formatRequest({ target: '/api/peer' }))
    expect((await connection.receive()).body.toString()).toBe(`127.0.0.1 ${connection.socket.localPort}`)
    connection.socket.destroy()
  })
})

describe.skipIf(process.platform === 'win32')('while JavaScript is busy', () => {
  test('the native engine serves files on connections that the application has already used', async () => {
    const { command, fifo, port, connection, other } = await startWithFifo()
    for (const target of ['/', '/api/ping', '/']) {
      connection.send(formatRequest({ target }))
      await connection.receive()
    }
    other.send(formatRequest({ target: '/api/block' }))
    let isUnblocked = false
    const unblocked = other.receive().finally(() => {
      isUnblocked = true
    })
    // open() returns when JavaScript reads from the pipe. JavaScript then blocks until a write.
    const end = await openFile(fifo, 'w')
    for (let index = 0; index < 200; index += 1) {
      const { body } = await (index % 2 === 0 ? rawRequest(port, {}) : ask(connection))
      expect(body.toString()).toBe(page)
    }
    expect(isUnblocked).toBe(false)
    await end.writeFile('go on')
    await end.close()
    expect((await unblocked).body.toString()).toBe('go on')
    await stopCommand(command)
  })

  test('the native engine sends a relayed request again if Node closes the idle connection', async () => {
    const { command, fifo, port, connection, other } = await startWithFifo()
    connection.send(formatRequest({ target: '/api/ping' }))
    await connection.receive()
    other.send(formatRequest({ target: '/api/closing' }))
    expect(await readFile(fifo, 'utf8')).toBe('busy')
    const upload = { target: '/api/upload', method: 'POST', fields: { 'Content-Length': '4' } }
    connection.send(`${formatRequest(upload)}body`)
    // By then, the request is on its way to Node.
    for (let count = 0; count < 200; count += 1) await rawRequest(port, {})
    await writeFile(fifo, 'go on')
    expect((await other.receive()).body.toString()).toBe('go on')
    expect((await connection.receive()).body.toString()).toContain(
      createHash('sha256').update('body').digest('hex'),
    )
    await stopCommand(command)
  })
})

/** Serves the application, which blocks on a named pipe, and opens two connections. */
async function startWithFifo(): Promise<
  Record<'connection' | 'other', Connection> & {
    readonly command: RunningCommand
    readonly fifo: string
    readonly port: number
  }
> {
  const modules = await writeFixture({ 'entry.mjs': application })
  const fifo = join(modules, 'fifo')
  await promisify(execFile)('mkfifo', [fifo])
  const args = [build, '--port', '0', '--engine', 'native', '--ssr', join(modules, 'entry.mjs')]
  const command = spawnCommand(args, { env: { TEST_FIFO: fifo } })
  const { port } = await command.listening
  return { command, fifo, port, connection: await openConnection(port), other: await openConnection(port) }
}

async function ask(connection: Connection): ReturnType<Connection['receive']> {
  connection.send(formatRequest({}))
  return await connection.receive()
}
