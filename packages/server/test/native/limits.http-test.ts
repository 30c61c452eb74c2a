import { loadEngine } from '@serve-dist/engine'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { createEngineTransport } from '../../src/native/create-engine-transport.ts'
import { connectionLimits } from '../../src/protocol/connection-limits.ts'
import { createHttpTransport } from '../../src/transport/create-http-transport.ts'
import type {
  EngineAnswers,
  RequestListener,
  Transport,
  TransportOptions,
} from '../../src/transport/transport.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'

// The real limits are minutes. Short ones show that both engines apply each limit.
const limits = {
  ...connectionLimits,
  headersTimeout: 3000,
  requestTimeout: 5000,
  keepAliveTimeout: 1500,
  connectionsCheckingInterval: 50,
  socketTimeout: 3500,
  maximumConnections: 50,
}
const large = Buffer.alloc(16 * 1024 * 1024, 'abcdefg')

/** The number of connections that exceeded the limit. */
const dropped = { node: () => 0, native: () => 0 }
const engines = ['node', 'native'] as const
type Engine = (typeof engines)[number]
const ports = { node: 0, native: 0 }
const transports: Transport[] = []

beforeAll(async () => {
  const binding = loadEngine()
  if (typeof binding === 'string') throw new Error(binding)
  const directory = await buildFixture({
    'index.html': 'page',
    'medium.bin': large.subarray(0, 32 * 1024),
    'large.bin': large,
  })
  const site = await loadSite(directory)
  const streamed = createHandler(await loadSite(directory, { largestBody: 1024 }))
  const handle = createHandler(site)
  // Node answers this path, also with a large body.
  const listener: RequestListener = (request, response) => {
    if (request.url === '/never') {
      response.setTimeout(0)
      return
    }
    const isNodes = request.url?.startsWith('/node/') === true
    if (isNodes) request.url = request.url?.slice('/node'.length) ?? '/'
    if (isNodes) streamed(request, response)
    else handle(request, response)
  }
  for (const engine of engines) {
    const watcher = {
      watch: (answer: RequestListener) => answer,
      noteConnection: () => undefined,
      noteRefusal: () => undefined,
      noteDrop() {
        const before = dropped[engine]()
        dropped[engine] = () => before + 1
      },
      engine: {
        durationBuckets: [],
        isLogged: false,
        classOf: () => 0,
        follow(answers: EngineAnswers) {
          dropped[engine] = () => answers.readCounts().dropped
        },
        noteSwap: () => undefined,
        noteRefusal: () => undefined,
      },
    }
    const options: TransportOptions = { takesUploads: false, watcher, limits }
    const transport =
      engine === 'node'
        ? createHttpTransport(listener, options)
        : createEngineTransport(listener, options, { binding, threads: 2 })
    transport.follower?.swap(site)
    ports[engine] = Number(new URL(await transport.listen({ port: 0, host: '127.0.0.1' })).port)
    transports.push(transport)
    // After this request, the engine knows the values of `Host` and `Accept-Encoding`, and answers itself.
    await rawRequest(ports[engine], {})
  }
})
afterAll(async () => {
  await Promise.all(transports.map((transport) => transport.drain(0)))
})

/** Acts as a client until the server closes. Returns all received bytes. */
async function receiveAll(engine: Engine, act: (socket: Socket) => unknown): Promise<string> {
  const socket = connect({ port: ports[engine], host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  // A client that is still sending may see a reset after the response.
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const timer = act(socket)
  await Promise.race([once(socket, 'end'), once(socket, 'close')]).catch(() => undefined)
  if (timer instanceof Object && Symbol.toPrimitive in timer) clearInterval(Number(timer))
  socket.destroy()
  return Buffer.concat(chunks)
    .toString('latin1')
    .replaceAll(/\r\nDate: [^\r]+/g, '')
}

/** Returns a function that sends octets one at a time. */
function slowly(octets: string): (socket: Socket) => NodeJS.Timeout {
  return (socket) => {
    let sent = 0
    return setInterval(() => {
      if (socket.writable && sent < octets.length) socket.write(octets.charAt(sent))
      sent += 1
    }, 50)
  }
}

const post = formatRequest({ method: 'POST', fields: { 'Content-Length': '100000' } })
/** Returns a head with this total number of octets. */
function headOf(size: number, target = '/'): string {
  const rest = formatRequest({ target, fields: { Connection: 'close', X: '' } }).length
  return formatRequest({ target, fields: { Connection: 'close', X: 'x'.repeat(size - rest) } })
}

function headWithFields(count: number): string {
  return headOf(100).replace('X: ', `${'a: b\r\n'.repeat(count)}X: `)
}

const clients: readonly (readonly [string, string, (socket: Socket) => unknown])[] = [
  ['says nothing', '408 ', () => undefined],
  ['sends its head an octet at a time', '408 ', slowly(formatRequest({ fields: { X: 'x'.repeat(9000) } }))],
  ['sends half a head', '408 ', (socket) => socket.write('GET / HTTP/1.1\r\nHost: a')],
  [
    'sends a body that nothing reads an octet at a time',
    '405 ',
    (socket) => {
      socket.write(post)
      return slowly('x'.repeat(9000))(socket)
    },
  ],
  ['sends half of a body', '405 ', (socket) => socket.write(`${post}half`)],
  ['sends no next request', '200 ', (socket) => socket.write(formatRequest({}))],
  ['ends its request with an extra empty line', '200 ', (socket) => socket.write(`${formatRequest({})}\r\n`)],
  ['begins with an empty line', '408 ', (socket) => socket.write('\r\n')],
  [
    'sends no next request after one to Node',
    '404 ',
    (socket) => socket.write(formatRequest({ target: '/none.js' })),
  ],
  [
    'sends its second head an octet at a time',
    '200 ',
    (socket) => {
      socket.write(formatRequest({}))
      return slowly(formatRequest({ fields: { X: 'x'.repeat(9000) } }))(socket)
    },
  ],
  ['sends a head of 16,000 octets', '200 ', (socket) => socket.write(headOf(16_000))],
  ['sends a head of 17,000 octets', '431 ', (socket) => socket.write(headOf(17_000))],
  ['sends a head of 100,000 octets', '431 ', (socket) => socket.write(headOf(100_000))],
  [
    'sends a head of 100,000 octets without an end',
    '431 ',
    (socket) => socket.write(headOf(100_000).slice(0, -2)),
  ],
  ['sends 900 fields', '200 ', (socket) => socket.write(headWithFields(900))],
  // Node 22.23 and 24.21 reject more than 1,000.
  ['sends 3,000 fields', '(?:200|431) ', (socket) => socket.write(headWithFields(3000))],
  [
    'pipelines 5,000 requests',
    '200 ',
    (socket) =>
      socket.write(formatRequest({}).repeat(4999) + formatRequest({ fields: { Connection: 'close' } })),
  ],
  [
    'pipelines 1,000 requests of Node',
    '404 ',
    (socket) =>
      socket.write(
        formatRequest({ target: '/none.js' }).repeat(999) +
          formatRequest({ target: '/none.js', fields: { Connection: 'close' } }),
      ),
  ],
  [
    'pipelines requests to both in turn',
    '404 ',
    (socket) =>
      socket.write(
        (formatRequest({ target: '/none.js' }) + formatRequest({})).repeat(500) +
          formatRequest({ fields: { Connection: 'close' } }),
      ),
  ],
]

describe.skipIf(process.platform !== 'linux')('a client that', () => {
  test.concurrent.each(clients)(
    '%s gets the same answer as from Node alone: %s',
    async (_what, status, act) => {
      const [node, native] = await Promise.all(engines.map((engine) => receiveAll(engine, act)))
      expect(node).toMatch(new RegExp(`^HTTP/1\\.1 ${status}`))
      expect(native).toBe(node)
    },
  )

  test.concurrent.each([formatRequest({}), formatRequest({ target: '/none.js' }), 'GET / HT'])(
    'closes its half is cut off by the limit if %j waits behind a request that is never answered',
    async (pipelined) => {
      const request = formatRequest({ target: '/never' }) + pipelined
      expect(await receiveAll('native', (socket) => socket.end(request))).toBe('')
    },
  )

  const stalling = [
    ['a file', formatRequest({ target: '/large.bin' })],
    ["a file of Node's", formatRequest({ target: '/node/large.bin' })],
    ['answers to 100,000 requests', formatRequest({}).repeat(100_000)],
    ["answers of Node's to 1,000 requests", formatRequest({ target: '/node/medium.bin' }).repeat(1000)],
  ] as const
  test.concurrent.each(
    engines.flatMap((engine) => stalling.map(([what, sent]) => [engine, what, sent] as const)),
  )('does not read is cut off by the limit: %s, %s', async (engine, _what, sent) => {
    const socket = connect({ port: ports[engine], host: '127.0.0.1' })
    socket.on('error', () => undefined)
    socket.write(sent)
    await once(socket, 'readable')
    await vi.waitFor(async () => expect(await isOpenOnServer(engine, socket)).toBe(false), {
      timeout: 20_000,
      interval: 100,
    })
    socket.destroy()
  })
})

/** Formats a port as /proc/net/tcp does. */
function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0')
}

/** Tells whether the server still has its end of a connection open. */
async function isOpenOnServer(engine: Engine, { localPort = 0 }: Socket): Promise<boolean> {
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/))
  return rows.some(
    ([, local = '', remote = '', state]) =>
      local.endsWith(`:${hex(ports[engine])}`) && remote.endsWith(`:${hex(localPort)}`) && state === '01',
  )
}

describe.each(engines)('the number of connections of the %s engine', (engine) => {
  test('is limited: the engine closes and counts further ones, and serves the rest', async () => {
    const open = await Promise.all(
      Array.from({ length: limits.maximumConnections }, async () => {
        const connection = await openConnection(ports[engine])
        connection.send(formatRequest({}))
        await connection.receive()
        return connection
      }),
    )
    const before = dropped[engine]()
    await expect(rawRequest(ports[engine], {})).rejects.toThrow('closed after ""')
    await vi.waitFor(() => expect(dropped[engine]()).toBe(before + 1))
    const [first, ...others] = open
    first?.send(formatRequest({}))
    expect((await first?.receive())?.status).toBe(200)
    for (const { socket } of [...others, ...(first === undefined ? [] : [first])]) socket.destroy()
    await vi.waitFor(async () => expect((await rawRequest(ports[engine], {})).status).toBe(200))
  })
})
