import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createHttpTransport } from '../../src/transport/create-http-transport.ts'
import type { Exchange } from '../../src/operations/exchange.ts'
import { observeRefusals } from '../../src/operations/observe-refusals.ts'
import { observeRequests } from '../../src/operations/observe-requests.ts'
import { type Connection, openConnection } from '../support/open-connection.ts'
import { formatRequest } from '../support/raw-request.ts'
import type { RequestListener, Transport } from '../../src/transport/transport.ts'

const seen: Exchange[] = []
const sockets = new Set<Socket>()
let endings: (() => unknown)[] = []
let transport: Transport
let port: number

/** An application that answers by path. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === '/page') {
    response.end('page')
    return
  }
  if (request.url === '/upload') {
    request.resume().once('end', () => response.end())
    return
  }
  if (request.url === '/begun') response.write('begun')
  endings.push(() => response.destroy(errorOf(request)))
}

function errorOf({ headers }: IncomingMessage): Error {
  const upstream = Object.assign(new Error('from upstream'), { code: 'HPE_INVALID_CONSTANT' })
  return headers['x-error'] === 'upstream' ? upstream : new DOMException('late', 'TimeoutError')
}

beforeAll(async () => {
  const observers = [{ end: (exchange: Exchange) => seen.push(exchange) }]
  const watch = (listener: RequestListener): RequestListener =>
    observeRequests(listener, { observers, addressOf: () => '' })
  const noteRefusal = observeRefusals(observers, () => '')
  const watcher = { watch, noteConnection: () => undefined, noteRefusal, noteDrop: () => undefined }
  transport = createHttpTransport(watch(answer), { takesUploads: true, watcher })
  transport.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  transport.server.listen(0, '127.0.0.1')
  await once(transport.server, 'listening')
  const address = transport.server.address()
  port = typeof address === 'object' ? (address?.port ?? 0) : 0
})

afterAll(async () => {
  await transport.drain(0)
})

beforeEach(() => {
  seen.length = 0
  endings = []
})

/** Returns the status or the error code of each observed request, after both sides closed the connection. */
async function observedStatuses(act: (connection: Connection) => unknown): Promise<(string | number)[]> {
  const connection = await openConnection(port)
  await act(connection)
  await connection.rest()
  await vi.waitFor(() => expect(sockets.size).toBe(0))
  return seen.map(({ status, error }) => error ?? status)
}

const chunked = { 'Transfer-Encoding': 'chunked' }
const closing = { Connection: 'close' }
const garbage = 'hello\r\n\r\n'

describe('malformed input', () => {
  test('is observed after a finished request', async () => {
    const told = await observedStatuses(async (connection) => {
      connection.send(formatRequest({ target: '/page' }))
      await connection.receive()
      connection.send(garbage)
    })
    expect(told).toEqual([200, 'HPE_INVALID_METHOD'])
  })

  test('is observed after a request whose response was in progress', async () => {
    const told = await observedStatuses((connection) =>
      connection.send(formatRequest({ target: '/page' }) + garbage),
    )
    expect(told).toEqual([200, 'HPE_INVALID_METHOD'])
  })

  test.each([
    ['after the last response', formatRequest({ target: '/page', fields: closing }) + garbage, 200],
    ['after a rejected request', `GET / HTTP/2.0\r\nHost: a\r\n\r\n${garbage}`, 505],
    [
      'in the body of a request',
      `${formatRequest({ method: 'POST', target: '/upload', fields: chunked })}zz\r\n`,
      'HPE_INVALID_CHUNK_SIZE',
    ],
  ])('is observed as part of its request: %s', async (_where, octets, status) => {
    expect(await observedStatuses((connection) => connection.send(octets))).toEqual([status])
  })

  test('determines the response to the request that contains it in its body', async () => {
    const head = formatRequest({ method: 'POST', target: '/upload', fields: chunked })
    await observedStatuses((connection) => connection.send(`${head}zz\r\n`))
    expect(seen).toMatchObject([
      { request: { method: 'POST', url: '/upload' }, status: 400, bytes: 0, isAborted: false },
    ])
  })

  test('is observed as part of its request: in a body that no handler reads', async () => {
    const told = await observedStatuses(async (connection) => {
      connection.send(formatRequest({ method: 'POST', target: '/page', fields: chunked }))
      await connection.receive()
      connection.send('zz\r\n')
    })
    expect(told).toEqual([200])
  })
})

describe('a response that its application aborts', () => {
  test.each([
    ['/begun', 'upstream', 200],
    ['/begun', 'late', 200],
    ['/silent', 'upstream', 499],
    ['/silent', 'late', 499],
  ])('is observed as one request: %s, %s', async (target, error, status) => {
    const told = await observedStatuses(async (connection) => {
      connection.send(formatRequest({ target, fields: { 'X-Error': error } }))
      await vi.waitFor(() => expect(endings).toHaveLength(1))
      for (const end of endings) end()
    })
    expect(told).toEqual([status])
    expect(seen[0]?.isAborted).toBe(true)
  })
})
