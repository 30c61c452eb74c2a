import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { setTimeout as delay } from 'node:timers/promises'
import { Readable } from 'node:stream'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { connectionLimits } from '../../src/protocol/connection-limits.ts'
import type { Site } from '../../src/site/site.ts'
import type { RequestListener } from '../../src/transport/transport.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { http2Request } from '../support/http2-request.ts'
import { openConnection } from '../support/open-connection.ts'
import {
  endHeaders,
  endStream,
  type Frame,
  frameTypes,
  openRawHttp2,
  type RawHttp2,
  uint32,
} from '../support/open-raw-http2.ts'
import { type StartedTlsServer, startTlsServer } from '../support/start-tls-server.ts'

const limits = {
  ...connectionLimits,
  headersTimeout: 350,
  requestTimeout: 400,
  uploadTimeout: 500,
  keepAliveTimeout: 900,
  socketTimeout: 500,
  connectionsCheckingInterval: 50,
  maximumStreams: 40,
}
/** Milliseconds, longer than all limits together. */
const long = 2600

const noError = 0
const cancel = 8

let directory: string
let files: Site
let serveFiles: RequestListener
beforeAll(async () => {
  directory = await buildFixture({
    'index.html': 'page',
    'large.bin': Buffer.alloc(400_000, 'abcdefg'),
    'medium.bin': Buffer.alloc(100_000, 'abcdefg'),
  })
  files = await loadSite(directory)
  const handle = createHandler(files)
  serveFiles = (request, response) => handle(request, response)
})

const opened: { destroy(): void }[] = []
afterEach(() => {
  for (const each of opened.splice(0)) each.destroy()
})

const serve = (listener: RequestListener, takesUploads = true, site?: Site): Promise<StartedTlsServer> =>
  startTlsServer(listener, { takesUploads, limits }, site)

/** Starts a server whose session limits are long, so that only the limits of a stream end it. */
const serveStreams = (
  listener: RequestListener,
  takesUploads = true,
  socketTimeout = limits.socketTimeout,
): Promise<StartedTlsServer> =>
  startTlsServer(listener, { takesUploads, limits: { ...limits, keepAliveTimeout: 10_000, socketTimeout } })

async function openRaw(...given: Parameters<typeof openRawHttp2>): Promise<RawHttp2> {
  const connection = await openRawHttp2(...given)
  opened.push(connection.socket)
  return connection
}

function openSession(port: number): ClientHttp2Session {
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  opened.push(session)
  return session
}

/** Sends a frame on the session at an interval until it closes. */
function sendRepeatedly({ send, socket }: RawHttp2, frame: Partial<Frame> & Pick<Frame, 'type'>): void {
  const timer = setInterval(() => send(frame), 150)
  socket.once('close', () => clearInterval(timer))
}

const ping = { type: frameTypes.ping, payload: Buffer.alloc(8) }

/** Returns the code of a stream's reset. */
async function resetOf({ find }: RawHttp2, stream: number): Promise<number> {
  const frame = await find((each) => each.type === frameTypes.resetStream && each.stream === stream)
  return frame.payload.readUInt32BE()
}

/** Sends a request, so that the native engine knows the host and answers its files. */
async function teachHost(port: number): Promise<void> {
  await http2Request(port, { fields: { ':authority': 'localhost' } })
}

const never: RequestListener = () => {}
const answerGets: RequestListener = (request, response) => {
  if (request.method === 'GET') response.end('answer')
}

describe('a request over HTTP/2 that never ends', () => {
  test.each([
    ['that an application reads', true],
    ['that nothing reads', false],
  ])('is reset at its time limit although its session is used: %s', async (_whose, takesUploads) => {
    const { port } = await serveStreams(never, takesUploads)
    const connection = await openRaw(port)
    sendRepeatedly(connection, ping)
    connection.request(1, { ':method': 'POST' }, endHeaders)
    expect(await resetOf(connection, 1)).toBe(cancel)
  })

  test('is reset although a byte arrives occasionally', async () => {
    const { port } = await serveStreams((request) => void request.resume())
    const connection = await openRaw(port)
    connection.request(1, { ':method': 'POST' }, endHeaders)
    sendRepeatedly(connection, { type: frameTypes.data, stream: 1, payload: Buffer.of(1) })
    expect(await resetOf(connection, 1)).toBe(cancel)
  })

  test('ends at once if a file answers it', async () => {
    const { port } = await serve(serveFiles, false)
    const connection = await openRaw(port)
    connection.request(1, { ':method': 'POST' }, endHeaders)
    expect(await resetOf(connection, 1)).toBe(noError)
  })

  test.each([
    ['that an application reads', true],
    ['that nothing reads', false],
  ])('does not affect other streams, however many there are: %s', async (_whose, takesUploads) => {
    // Only the number of streams ends a stream here. The time limits are long, and no session counts as
    // stalled.
    const { port } = await startTlsServer(answerGets, {
      takesUploads,
      limits: { ...connectionLimits, maximumStreams: limits.maximumStreams },
    })
    const attackers = await Promise.all(Array.from({ length: 4 }, () => openRaw(port)))
    for (const attacker of attackers) {
      sendRepeatedly(attacker, ping)
      for (let stream = 1; stream < 2 * 30; stream += 2)
        attacker.request(stream, { ':method': 'POST' }, endHeaders)
    }
    await vi.waitFor(() => {
      const refused = attackers.flatMap(({ frames }) =>
        frames.filter(({ type }) => type === frameTypes.resetStream),
      )
      expect(refused).toHaveLength(4 * 30 - limits.maximumStreams)
    })
    expect((await http2Request(port)).status).toBe(200)
    const session = openSession(port)
    const answers = Array.from({ length: 8 }, async () => {
      const [fields] = await once(session.request({}), 'response')
      return fields[':status']
    })
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 8 }, () => 200))
  })
})

async function askForMany({ request, find }: RawHttp2): Promise<void> {
  for (let stream = 1; stream < 2 * 30; stream += 2) request(stream, { ':path': '/large.bin' })
  await find(({ type, stream }) => type === frameTypes.headers && stream === 59)
}

// The native engine's threads each count their own streams. Other tests cover that.
test('a session whose client reads nothing is closed if other clients need its streams', async () => {
  // The other time limits are long: a busy machine must not end the streams of the client that reads.
  const { connectionsCheckingInterval, maximumStreams } = limits
  const { connections, port } = await startTlsServer(serveFiles, {
    limits: { ...connectionLimits, headersTimeout: 1500, connectionsCheckingInterval, maximumStreams },
  })
  const stalled = await openRaw(port, [[4, 0]])
  await askForMany(stalled)
  // The server's timer closes this silent connection. It has then checked the other limits, too.
  const silent = await openConnection(port)
  await silent.rest()
  const other = await openRaw(port)
  await askForMany(other)
  await stalled.closed
  expect(other.frames.filter(({ type }) => type === frameTypes.resetStream)).toEqual([])
  // The native engine waits for the client's end.
  await vi.waitFor(async () => expect(await connections()).toBe(1))
})

test('an upload over HTTP/2 that makes progress for longer than every limit arrives whole', async () => {
  // These limits are long enough for a process that stops for a second.
  const longer = { headersTimeout: 3000, requestTimeout: 3000, uploadTimeout: 3000, socketTimeout: 3000 }
  const options = { takesUploads: true, limits: { ...limits, ...longer, keepAliveTimeout: 3000 } }
  const { port } = await startTlsServer((request, response) => {
    let length = 0
    request.on('data', (chunk: Buffer) => (length += chunk.length))
    request.on('end', () => response.end(String(length)))
  }, options)
  const stream = openSession(port).request({ ':method': 'POST' })
  const begun = performance.now()
  let sent = 0
  while (performance.now() - begun < 4000) {
    stream.write(Buffer.alloc(20_000))
    sent += 20_000
    await delay(50)
  }
  stream.end()
  const [answer] = await once(stream, 'data')
  expect(String(answer)).toBe(String(sent))
})

/** Applications that send at least some bytes. */
const answers: Readonly<Record<string, RequestListener>> = {
  'a few bytes, and the end': (_request, response) => response.end('answer'),
  'a few bytes, and no end': (_request, response) => void response.write('answer'),
  'more and more': (_request, response) => {
    const timer = setInterval(() => response.write('answer'), 50)
    response.once('close', () => clearInterval(timer))
  },
  'a stream': (_request, response) => void Readable.from(pieces()).pipe(response),
  'a long text in one piece': (_request, response) => response.end('x'.repeat(600_000)),
  'large pieces': (_request, response) => {
    response.write(Buffer.alloc(300_000))
    response.write('x'.repeat(200_000))
    response.end(Buffer.alloc(100_000))
  },
  'thousands of pieces at once': (_request, response) => {
    for (let count = 0; count < 6000; count += 1) response.write('x'.repeat(100))
    response.end()
  },
}

function* pieces(times = 20, size = 30_000): Generator<Buffer> {
  for (let count = 0; count < times; count += 1) yield Buffer.alloc(size)
}

describe('a response of an application over HTTP/2', () => {
  test.each(Object.entries(answers))(
    'is reset if its client reads none of it, although its session is used: %s',
    async (_what, listener) => {
      const { port } = await serveStreams(listener)
      const connection = await openRaw(port, [[4, 0]])
      sendRepeatedly(connection, ping)
      connection.request(1)
      expect(await resetOf(connection, 1)).toBe(cancel)
    },
  )

  test.each(['a stream', 'a long text in one piece', 'large pieces', 'thousands of pieces at once'])(
    'is sent whole to a client that reads slowly, for longer than every limit: %s',
    async (what) => {
      // On a busy machine, a client may pause for longer than the 500 ms of other tests.
      const { port } = await serveStreams(answers[what] ?? never, true, 2500)
      const connection = await openRaw(port, [[4, 10_000]])
      connection.send({ type: frameTypes.windowUpdate, payload: uint32(2 ** 30) })
      sendRepeatedly(connection, { type: frameTypes.windowUpdate, stream: 1, payload: uint32(31_000) })
      const begun = performance.now()
      connection.request(1)
      const last = await connection.find(
        ({ type, stream, flags }) =>
          stream === 1 && (type === frameTypes.resetStream || (flags & endStream) > 0),
      )
      expect(last.type).not.toBe(frameTypes.resetStream)
      const body = connection.frames.filter(({ type }) => type === frameTypes.data)
      expect(body.reduce((sum, { payload }) => sum + payload.length, 0)).toBe(600_000)
      expect(performance.now() - begun).toBeGreaterThan(long)
    },
  )

  test.each([
    ['a file in memory', 64 * 1024 * 1024],
    ['a file on the disk', 0],
    ['a stream of an application', undefined],
  ])(
    'is sent whole to a client with 30 concurrent streams that reads all of them slowly: %s',
    async (_what, memoryBudget) => {
      const site = memoryBudget === undefined ? undefined : await loadSite(directory, { memoryBudget })
      const handle = site && createHandler(site)
      // On a busy machine, this process may pause for two seconds. The native engine's two threads share the limit of
      // streams equally, and this session belongs to one thread.
      const times = { keepAliveTimeout: 3000, socketTimeout: 3000 }
      const patient = { ...limits, ...times, maximumStreams: 2 * limits.maximumStreams }
      const { port } = await startTlsServer(
        (request, response) => {
          if (handle === undefined) Readable.from(pieces(4, 25_000)).pipe(response)
          else handle(request, response)
        },
        { limits: patient },
        site,
      )
      await teachHost(port)
      const connection = await openRaw(port, [[4, 2 ** 30]])
      for (let stream = 1; stream < 60; stream += 2) connection.request(stream, { ':path': '/medium.bin' })
      // The client reads 490 kB a second, so 64 KiB of each stream take four seconds.
      const window = { type: frameTypes.windowUpdate, payload: uint32(9800) }
      const timer = setInterval(() => connection.send(window), 20)
      connection.socket.once('close', () => clearInterval(timer))
      const of = (type: number): Frame[] => connection.frames.filter((frame) => frame.type === type)
      await vi.waitFor(() => {
        const ended = of(frameTypes.data).filter(({ flags }) => (flags & endStream) > 0)
        expect(ended.length + of(frameTypes.resetStream).length).toBe(30)
      }, 60_000)
      expect(of(frameTypes.resetStream).map(({ stream }) => stream)).toEqual([])
      expect(of(frameTypes.data).reduce((sum, { payload }) => sum + payload.length, 0)).toBe(30 * 100_000)
    },
  )

  test('may have pauses between events that exceed every limit', async () => {
    const { port } = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('first')
      setTimeout(() => response.end('second'), long)
    })
    const session = openSession(port)
    const stream = session.request({})
    const [first] = await once(stream, 'data')
    const [second] = await once(stream, 'data')
    expect([String(first), String(second)]).toEqual(['first', 'second'])
  })

  test('that waits for events is closed if its client does not answer a PING', async () => {
    const { connections, port } = await serve((_request, response) => void response.write('first'))
    const connection = await openRaw(port)
    connection.request(1)
    await connection.find(({ type }) => type === frameTypes.ping)
    await connection.closed
    await vi.waitFor(async () => expect(await connections()).toBe(0))
  })

  test('emits drain after all parts of a large chunk were sent', async () => {
    const { port } = await serve((_request, response) => {
      expect(response.write(Buffer.alloc(300_000))).toBe(false)
      response.once('drain', () => response.end(String(response.writableLength)))
    })
    const { body } = await http2Request(port)
    expect(body.subarray(300_000).toString()).toBe('0')
  })
})

describe('a socket is closed', () => {
  test.each([
    ['idle', false],
    ['with a response in progress', true],
  ])('if its client sends GOAWAY and keeps it open, 20 of 20: %s', async (_what, hasAnswer) => {
    // No time limit closes a connection before its answer, even on a busy machine.
    const server = await startTlsServer(
      (_request, response) => setTimeout(() => response.end('answer'), 700),
      { limits: { ...connectionLimits, connectionsCheckingInterval: limits.connectionsCheckingInterval } },
    )
    const connections = await Promise.all(Array.from({ length: 20 }, () => openRaw(server.port, [], true)))
    for (const { request, send } of connections) {
      if (hasAnswer) request(1)
      send({ type: frameTypes.goAway, payload: Buffer.alloc(8) })
    }
    await vi.waitFor(async () => expect(await server.connections()).toBe(0))
    const answered = connections.filter(({ frames }) =>
      frames.some(({ flags, stream }) => stream === 1 && flags === 1),
    )
    expect(answered).toHaveLength(hasAnswer ? 20 : 0)
  })

  test('if the server sent GOAWAY, and its client is silent', async () => {
    const transport = await serve(serveFiles, true, files)
    await teachHost(transport.port)
    const connections = await Promise.all(Array.from({ length: 3 }, () => openRaw(transport.port, [], true)))
    for (const { request } of connections) request(1)
    await Promise.all(connections.map(({ find }) => find(({ type }) => type === frameTypes.data)))
    // Longer than the test may take. A stop that waits for it fails the test.
    await transport.drain(600_000)
    expect(await transport.connections()).toBe(0)
  })
})
