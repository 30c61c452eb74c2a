import type { Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { dialTls } from '../support/dial-tls.ts'
import { http2Request } from '../support/http2-request.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { openConnection } from '../support/open-connection.ts'
import { frameTypes, openRawHttp2, uint32 } from '../support/open-raw-http2.ts'
import { formatRequest } from '../support/raw-request.ts'
import { startSoakCommand } from '../support/soak/soak-command.ts'
import { incompressibleBytes } from '../support/soak/soak-sites.ts'
import { hasNative } from '../support/tested-engine.ts'

const megabyte = 1024 * 1024
const large = incompressibleBytes(10 * megabyte)
const largestWindow = 2 ** 31 - 1

/** Clients that request the large file and read nothing. */
const readers: Readonly<Record<string, (port: number) => Promise<Socket>>> = {
  async '1,000 connections of HTTP/1.1'(port) {
    const connection = await openConnection(port, dialTls)
    connection.socket.pause()
    connection.send(formatRequest({ target: '/large.bin' }))
    return connection.socket
  },
  async '1,000 sessions of HTTP/2 whose windows are open'(port) {
    const { socket, send, request } = await openRawHttp2(port, [[4, largestWindow]])
    send({ type: frameTypes.windowUpdate, payload: uint32(largestWindow - 65_535) })
    socket.pause()
    request(1, { ':path': '/large.bin' })
    return socket
  },
  async '1,000 sessions of HTTP/2 whose windows are closed'(port) {
    const { socket, request } = await openRawHttp2(port, [[4, 0]])
    request(1, { ':path': '/large.bin' })
    return socket
  },
}

const ways: readonly (readonly [how: string, flags: readonly string[]])[] = [
  ['from memory', []],
  ['streamed', ['--memory-budget', '1m']],
  ['by the native engine', ['--engine', 'native']],
]

async function openMany(count: number, open: () => Promise<Socket>): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < count) {
    sockets.push(...(await Promise.all(Array.from({ length: 50 }, open))))
  }
  return sockets
}

describe.skipIf(process.platform !== 'linux')('the command, over TLS', () => {
  test.each(
    Object.entries(readers).flatMap(([name, open]) =>
      ways.slice(0, hasNative ? 3 : 2).map(([how, flags]) => [name, how, flags, open] as const),
    ),
  )('uses less than 200 MB for %s that stall: %s', async (name, how, flags, open) => {
    const directory = await buildFixture({ 'index.html': 'page', 'large.bin': large })
    const { cert, key } = await writeCertificate()
    const command = await startSoakCommand([directory, '--tls-cert', cert, '--tls-key', key, ...flags])
    const { port, measure } = command
    await http2Request(port, { target: '/large.bin' })
    const before = await measure()
    const sockets = await openMany(1000, () => open(port))
    await vi.waitFor(async () => expect((await measure()).sockets).toBe(1000), {
      timeout: 30_000,
      interval: 500,
    })
    expect((await http2Request(port)).status).toBe(200)
    const { rss } = await measure()
    console.log(`${name} that stall, ${how}: ${((rss - before.rss) / megabyte).toFixed(1)} MB`)
    expect(rss - before.rss).toBeLessThan(200_000_000)
    expect(command.complaints()).toBe('')
    for (const socket of sockets) socket.destroy()
    command.child.kill('SIGKILL')
  })
})

const application = `import { Readable } from 'node:stream'
function* chunks() { for (let count = 0; count < 16; count += 1) yield Buffer.alloc(65_536) }
export default (request, response) => Readable.from(chunks()).pipe(response)`

test.skipIf(process.platform !== 'linux' || !hasNative)(
  'the native engine uses limited memory for 6,400 relayed streams that stall, and returns it',
  async () => {
    const directory = await buildFixture({ 'index.html': 'page' }, { appType: 'custom' })
    const entry = join(await writeFixture({ 'entry.mjs': application }), 'entry.mjs')
    const { cert, key } = await writeCertificate()
    const tls = ['--tls-cert', cert, '--tls-key', key]
    const command = await startSoakCommand([directory, '--ssr', entry, '--engine', 'native', ...tls])
    const { port, measure } = command
    await http2Request(port, { target: '/api' })
    const before = await measure()
    const sockets = await openMany(50, async () => {
      const { socket, request } = await openRawHttp2(port)
      socket.pause()
      for (let index = 0; index < 128; index += 1) request(2 * index + 1, { ':path': '/api' })
      return socket
    })
    await vi.waitFor(
      async () => expect((await measure()).heap - before.heap).toBeGreaterThan(50 * megabyte),
      {
        timeout: 60_000,
        interval: 500,
      },
    )
    const stalled = await measure()
    console.log(`6,400 streams that stall: ${((stalled.rss - before.rss) / megabyte).toFixed(1)} MB`)
    // Most of it is in Node: one or two chunks of each answer.
    expect((stalled.rss - before.rss) / 6400).toBeLessThan(256 * 1024)
    for (const socket of sockets) socket.destroy()
    await vi.waitFor(async () => expect((await measure()).rss - before.rss).toBeLessThan(150 * megabyte), {
      timeout: 120_000,
      interval: 2000,
    })
    command.child.kill('SIGKILL')
  },
)
