import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test, vi } from 'vitest'
import { connectionLimits } from '../../src/protocol/connection-limits.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { type SoakCommand, startSoakCommand } from '../support/soak/soak-command.ts'
import { incompressibleBytes } from '../support/soak/soak-sites.ts'
import { availableEngines, hasNative } from '../support/tested-engine.ts'

// These tests run the command with its real limits, so they run concurrently where possible.
const megabyte = 1024 * 1024
const large = incompressibleBytes(10 * megabyte)
const { headersTimeout, socketTimeout, connectionsCheckingInterval } = connectionLimits
const patience = 6 * socketTimeout

async function start(flags: readonly string[] = []): Promise<SoakCommand> {
  return startSoakCommand([await buildFixture({ 'index.html': 'page', 'large.bin': large }), ...flags])
}

function open(port: number, request: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {
    // A reset also counts as cut off.
  })
  socket.pause()
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('connect', () => resolve(socket))
    socket.write(request)
  })
}

async function openMany(count: number, port: number, request: string): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(100, count - sockets.length) }, () => open(port, request))
    sockets.push(...(await Promise.all(some)))
  }
  return sockets
}

describe.skipIf(process.platform !== 'linux')('the command', () => {
  // Run these in sequence: 2,000 sockets with full buffers exhaust the kernel's TCP memory. The kernel then
  // moves bytes, and the server sees progress.
  test.each<readonly [string, readonly string[]]>([
    ['from memory', []],
    ['streamed', ['--memory-budget', '1m']],
    ...(hasNative ? [['by the native engine', ['--engine', 'native']] as const] : []),
  ])(
    'serves other clients while 1,000 readers of 10 MB stall, uses less than 100 MB, then cuts them off: %s',
    async (_how, flags) => {
      const command = await start(flags)
      const { port, measure } = command
      await rawRequest(port, { target: '/large.bin' })
      const before = await measure()

      const begun = performance.now()
      const sockets = await openMany(1000, port, formatRequest({ target: '/large.bin' }))
      const during = await vi.waitFor(
        async () => {
          const holdings = await measure()
          expect(holdings.sockets).toBe(1000)
          return holdings
        },
        { timeout: 30_000, interval: 500 },
      )
      const response = await rawRequest(port, { target: '/' })
      expect([response.status, response.body.toString()]).toEqual([200, 'page'])
      const later = await measure()
      const cost = Math.max(during.rss, later.rss) - before.rss
      console.log(`1,000 stalled readers, ${_how}: ${(cost / megabyte).toFixed(1)} MB`)
      expect(cost).toBeLessThan(100_000_000)

      const after = await vi.waitFor(
        async () => {
          const holdings = await measure()
          expect(holdings.sockets).toBe(0)
          return holdings
        },
        // The kernel may move bytes when it frees memory. Such a socket stays open until the next check.
        { timeout: patience, interval: 2000 },
      )
      expect(performance.now() - begun).toBeGreaterThan(socketTimeout / 2)
      expect(after.descriptors).toBeLessThanOrEqual(before.descriptors)
      expect(command.complaints()).toBe('')
      for (const socket of sockets) socket.destroy()
    },
    patience + 60_000,
  )
})

/** The maximum bytes of an idle connection. */
const costOfIdle = { node: 32_768, native: 4096 }

describe.skipIf(process.platform !== 'linux')('the command', () => {
  test.concurrent.each(availableEngines)(
    'cuts off heads that arrive a byte a second, and serves other clients: %s',
    async (engine) => {
      const { port, measure } = await start(['--engine', engine])
      const begun = performance.now()
      const answers = await Promise.all(
        Array.from({ length: 200 }, async () => {
          const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
          const octets = formatRequest({ fields: { X: 'x'.repeat(1000) } })[Symbol.iterator]()
          const timer = setInterval(() => socket.write(octets.next().value ?? 'x'), 1000)
          try {
            return await text(socket)
          } finally {
            clearInterval(timer)
            socket.destroy()
          }
        }).concat(rawRequest(port, { target: '/' }).then(({ status }) => `HTTP/1.1 ${status} while they do`)),
      )
      expect(answers.filter((answer) => answer.startsWith('HTTP/1.1 408 '))).toHaveLength(200)
      expect(answers.at(-1)).toBe('HTTP/1.1 200 while they do')
      const slack = 15_000
      expect(performance.now() - begun).toBeLessThan(headersTimeout + connectionsCheckingInterval + slack)
      await vi.waitFor(async () => expect((await measure()).sockets).toBe(0), { timeout: 10_000 })
    },
  )

  test.each(availableEngines)(
    'refuses connections beyond its limit, and accepts new ones after some have closed: %s',
    async (engine) => {
      const { port, measure } = await start(['--engine', engine])
      await rawRequest(port, { target: '/' })
      const before = await measure()
      const sockets = await openMany(10_000, port, '')
      const during = await vi.waitFor(
        async () => {
          const holdings = await measure()
          expect(holdings.sockets).toBe(10_000)
          return holdings
        },
        { timeout: 30_000, interval: 500 },
      )
      console.log(`an idle connection, ${engine}: ${((during.rss - before.rss) / 10_000).toFixed(0)} bytes`)
      expect(during.rss - before.rss).toBeLessThan(10_000 * costOfIdle[engine])
      await expect(rawRequest(port, { target: '/' })).rejects.toThrow('closed after ""')
      for (const socket of sockets) socket.destroy()
      await vi.waitFor(async () => expect((await rawRequest(port, { target: '/' })).status).toBe(200), {
        timeout: 30_000,
        interval: 200,
      })
    },
  )

  test.skipIf(!hasNative).each([
    ['the engine', '/'],
    ['Node', '/none'],
  ])('limits memory for 500 clients that pipeline and do not read: %s', async (_who, target) => {
    const { port, measure } = await start(['--engine', 'native'])
    await rawRequest(port, { target })
    const before = await measure()
    // These responses would have 4 GB.
    const sockets = await openMany(500, port, formatRequest({ target }).repeat(40_000))
    const samples: number[] = []
    await vi.waitFor(
      async () => {
        samples.push((await measure()).rss)
        const [first = 0, last = 0] = samples.slice(-2)
        expect(Math.abs(last - first)).toBeLessThan(1_000_000)
      },
      { timeout: 40_000, interval: 1000 },
    )
    const cost = Math.max(...samples) - before.rss
    console.log(`500 clients that pipeline ${target} and do not read: ${(cost / megabyte).toFixed(1)} MB`)
    expect(cost).toBeLessThan(100_000_000)
    expect((await rawRequest(port, { target: '/' })).status).toBe(200)
    for (const socket of sockets) socket.destroy()
    await vi.waitFor(async () => expect((await measure()).sockets).toBe(0), { timeout: 10_000 })
  })
})
