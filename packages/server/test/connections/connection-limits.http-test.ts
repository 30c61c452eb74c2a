import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { startOperations } from '../../src/operations/start-operations.ts'
import { connectionLimits } from '../../src/protocol/connection-limits.ts'
import { createHttpTransport } from '../../src/transport/create-http-transport.ts'
import type { RequestListener, TransportOptions } from '../../src/transport/transport.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { dialTls } from '../support/dial-tls.ts'
import { openConnection } from '../support/open-connection.ts'
import { parseMetrics } from '../support/parse-metrics.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { startTlsServer } from '../support/start-tls-server.ts'

// The real limits are minutes. Short ones show that each limit reaches its socket.
const limits = {
  ...connectionLimits,
  headersTimeout: 300,
  requestTimeout: 600,
  keepAliveTimeout: 400,
  connectionsCheckingInterval: 50,
  maxHeaderSize: 4096,
  socketTimeout: 500,
}

const large = Buffer.alloc(16 * 1024 * 1024, 'abcdefg')

interface Limited {
  readonly port: number
  readonly opsUrl: string
}

let held: Limited
let streamed: Limited
let encrypted: Limited
const closers: (() => Promise<void>)[] = []
beforeAll(async () => {
  const directory = await buildFixture({ 'index.html': 'page', 'large.bin': large })
  const site = await loadSite(directory)
  held = await start(createHandler(site), startPlain)
  streamed = await start(createHandler(await loadSite(directory, { largestBody: 1024 })), startPlain)
  encrypted = await start(createHandler(site), async (listener, options) => {
    const { port } = await startTlsServer(listener, options)
    return port
  })
})
afterAll(async () => {
  await Promise.all(closers.map((close) => close()))
})

async function start(
  listener: RequestListener,
  startTransport: StartTransport,
  applied = limits,
): Promise<Limited> {
  const operations = await startOperations({ ops: { host: '127.0.0.1', port: 0 } })
  closers.push(async () => operations.close())
  const options = { takesUploads: false, watcher: operations, limits: applied }
  return { port: await startTransport(operations.watch(listener), options), opsUrl: operations.url ?? '' }
}

type StartTransport = (listener: RequestListener, options: TransportOptions) => Promise<number>

async function startPlain(listener: RequestListener, options: TransportOptions): Promise<number> {
  const transport = createHttpTransport(listener, options)
  closers.push(async () => transport.drain(0))
  return Number(new URL(await transport.listen({ port: 0, host: '127.0.0.1' })).port)
}

async function metricsOf({ opsUrl }: Limited): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`${opsUrl}metrics`)
  return parseMetrics(await response.text())
}

/** Returns the number of rejected requests that have no resource. */
async function countRejected(server: Limited): Promise<number> {
  const name = 'serve_dist_requests_total{status="4xx",coding="identity",cache="other"}'
  return (await metricsOf(server)).get(name) ?? 0
}

/** Sends octets one at a time, and returns all that the server sends before it closes. */
async function sendSlowly(octets: Iterable<string>): Promise<string> {
  const socket = connect({ port: held.port, host: '127.0.0.1', allowHalfOpen: true })
  // A client that is still sending may see a reset after the response.
  let answer = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk))
  socket.on('error', () => undefined)
  const slowly = octets[Symbol.iterator]()
  const timer = setInterval(() => {
    const { value, done } = slowly.next()
    if (done !== true) socket.write(value)
  }, 20)
  await Promise.race([once(socket, 'end'), once(socket, 'close')]).catch(() => undefined)
  clearInterval(timer)
  socket.destroy()
  return answer
}

describe('time limits', () => {
  test('answers a slow head with 408, counts it and closes', async () => {
    const before = await countRejected(held)
    expect(await sendSlowly(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(3000)}`)).toMatch(
      /^HTTP\/1\.1 408 /,
    )
    await vi.waitFor(async () => expect(await countRejected(held)).toBe(before + 1))
  })

  test('answers a silent connection with 408, and counts no request', async () => {
    const before = await countRejected(held)
    expect(await sendSlowly([])).toMatch(/^HTTP\/1\.1 408 /)
    expect(await countRejected(held)).toBe(before)
  })

  test('counts no request for a silent TLS connection', async () => {
    const idle = await openConnection(encrypted.port, dialTls)
    expect((await idle.rest()).toString('latin1')).toMatch(/^HTTP\/1\.1 408 /)
    expect(await countRejected(encrypted)).toBe(0)
    const begun = await openConnection(encrypted.port, dialTls)
    begun.send('GET / HTTP/1.1\r\n')
    expect((await begun.rest()).toString('latin1')).toMatch(/^HTTP\/1\.1 408 /)
    await vi.waitFor(async () => expect(await countRejected(encrypted)).toBe(1))
  })

  test('closes the connection of an endless request body after the response', async () => {
    const head = formatRequest({ method: 'POST', fields: { 'Content-Length': '100000' } })
    expect(await sendSlowly([head, ...'a'.repeat(3000)])).toMatch(/^HTTP\/1\.1 405 /)
  })

  test('closes an idle connection without a response', async () => {
    const connection = await openConnection(held.port)
    connection.send(formatRequest({}))
    const response = await connection.receive()
    expect(response.status).toBe(200)
    expect(await connection.rest()).toHaveLength(0)
  })

  test.each([
    ['from memory', () => held],
    ['streamed', () => streamed],
  ])('cuts off a client that stops reading in mid-body, %s', async (_how, serverOf) => {
    const socket = connect({ port: serverOf().port, host: '127.0.0.1' })
    const errors: unknown[] = []
    socket.on('error', (error) => errors.push(error))
    socket.write(formatRequest({ target: '/large.bin' }))
    await once(socket, 'readable')
    const bothEnds = openSockets()
    await vi.waitFor(() => expect(openSockets()).toBe(bothEnds - 1))
    let received = 0
    socket.on('data', (chunk) => {
      received += chunk.length
    })
    await once(socket, 'close')
    expect(received).toBeLessThan(large.length)
  })
})

/** Returns the number of sockets of this process, which is client and server. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
}

describe('the number of connections', () => {
  test('is limited: the server closes further ones, and keeps serving the rest', async () => {
    // With the short limits, the first connection could end before the last one opens.
    const patient = { ...connectionLimits, maximumConnections: 20 }
    const handler = createHandler(await loadSite(await buildFixture({ 'index.html': 'page' })))
    const limited = await start(handler, startPlain, patient)
    const sockets: Socket[] = []
    for (let index = 0; index < 20; index += 1) {
      const connection = await openConnection(limited.port)
      connection.send(formatRequest({}))
      await connection.receive()
      sockets.push(connection.socket)
    }
    await expect(rawRequest(limited.port, {})).rejects.toThrow('closed after ""')
    expect((await metricsOf(limited)).get('serve_dist_connections_dropped_total')).toBe(1)
    for (const socket of sockets) socket.destroy()
    await vi.waitFor(async () => expect((await rawRequest(limited.port, {})).status).toBe(200))
  })
})
