import { loadEngine } from '@serve-dist/engine'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createEngineTransport } from '../../src/native/create-engine-transport.ts'
import type { EngineChoice } from '../../src/native/choose-engine.ts'
import type { Exchange } from '../../src/operations/exchange.ts'
import { observeEngine } from '../../src/operations/observe-engine.ts'
import { connectionLimits } from '../../src/protocol/connection-limits.ts'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { fakeSite } from '../support/fake-site.ts'
import { replaceBuildIn } from '../support/replace-build-in.ts'
import { http2Request } from '../support/http2-request.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { openConnection } from '../support/open-connection.ts'
import { parseMetrics } from '../support/parse-metrics.ts'
import { formatRequest, type RawRequest, rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startServer, type StartedServer } from '../support/start-server.ts'

const files = { 'index.html': 'page', 'assets/app-1a2b.js': compressibleText(5000), 'note.txt': 'note' }
const script = '/assets/app-1a2b.js'
const br = { 'Accept-Encoding': 'br' }
const engines = ['node', 'native'] as const satisfies readonly EngineChoice[]

let directory: string
let requests: readonly RawRequest[]
beforeAll(async () => {
  directory = await buildFixture(files, { isHashed: (path) => path.includes('-1a2b') })
  const { port } = await startServer(directory)
  const tag = (await rawRequest(port, { target: script, fields: br })).field('ETag') ?? ''
  const told = {
    'User-Agent': ' "a\\}\u00E9\u00A0 ',
    Referer: 'http://example.org/ä"',
    'X-Forwarded-For': '192.0.2.7',
  }
  requests = [
    {},
    { target: '/?a=1&b="', fields: told },
    { target: script, fields: br },
    { target: script, fields: { ...br, 'If-None-Match': tag } },
    { target: script, fields: br, method: 'HEAD' },
    { target: '/note.txt', fields: { Connection: 'close' } },
    { target: '/unknown', fields: told },
    { target: '/', method: 'DELETE' },
  ]
})

/** Counts the requests that reach Node in this process during an operation. */
async function requestsToNode(happen: () => Promise<unknown>): Promise<number> {
  let count = 0
  const note = (): void => {
    count += 1
  }
  subscribe('http.server.request.start', note)
  await happen()
  unsubscribe('http.server.request.start', note)
  return count
}

async function metricsOf({ opsUrl }: StartedServer): Promise<ReadonlyMap<string, number>> {
  return parseMetrics(await (await fetch(`${opsUrl}metrics`)).text())
}

async function ownMetricsOf(server: StartedServer): Promise<Record<string, number>> {
  const own = [...(await metricsOf(server))].filter(([name]) => name.startsWith('serve_dist_'))
  return Object.fromEntries(own.filter(([name]) => !/_duration_seconds_(?:sum|bucket)/.test(name)))
}

async function startCounting(engine: EngineChoice, folder: string = directory): Promise<StartedServer> {
  return await startServer(folder, { engine, operations: { ops: { host: '127.0.0.1', port: 0 } } })
}

async function logOf(
  args: readonly string[],
  happen: (port: number) => Promise<unknown>,
): Promise<Record<string, unknown>[]> {
  const command = spawnCommand([directory, '--port', '0', '--access-log', 'json', ...args])
  const { port } = await command.listening
  await happen(port)
  command.child.kill('SIGTERM')
  const { code, stdout, stderr } = await command.exited
  expect([code, stderr]).toEqual([0, ''])
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
  return lines.map((line): Record<string, unknown> => JSON.parse(line))
}

describe.skipIf(typeof loadEngine() === 'string')('with the native engine', () => {
  test.each([[[]], [['--trust-proxy', 'loopback']]])(
    'the log equals that of the Node engine, with %j',
    async (args) => {
      const [expected, actual] = await Promise.all(
        engines.map(async (engine) => {
          const begin = Date.now()
          const entries = await logOf(['--engine', engine, ...args], async (port) => {
            for (const request of [...requests, ...requests]) await rawRequest(port, request)
          })
          return entries.map(({ time, durationMs, ...entry }) => {
            expect(Date.parse(String(time))).toBeGreaterThanOrEqual(begin)
            expect(Date.parse(String(time))).toBeLessThanOrEqual(Date.now())
            expect(durationMs).toBeGreaterThan(0)
            expect(durationMs).toBeLessThan(10_000)
            return JSON.stringify(entry)
          })
        }),
      )
      expect(actual).toHaveLength(2 * requests.length)
      // Log lines of different threads may arrive in another order.
      expect(actual?.toSorted()).toEqual(expected?.toSorted())
    },
  )

  test('the log over HTTP/2 equals that of the Node engine', async () => {
    const { cert, key } = await writeCertificate()
    // HTTP/2 has neither `Connection` nor spaces around a value.
    const asked = requests.filter(({ fields }) => !/^ |close/.test(Object.values(fields ?? {}).join()))
    const [expected, actual] = await Promise.all(
      engines.map(async (engine) => {
        const args = ['--engine', engine, '--tls-cert', cert, '--tls-key', key]
        const entries = await logOf(args, async (port) => {
          for (const request of [...asked, ...asked]) {
            await http2Request(port, { ...request, fields: { ...request.fields, ':authority': 'a' } })
          }
        })
        return entries.map(({ time: _time, durationMs: _duration, ...entry }) => JSON.stringify(entry))
      }),
    )
    expect(actual).toHaveLength(2 * asked.length)
    expect(actual?.toSorted()).toEqual(expected?.toSorted())
  })

  test('the metrics equal those of the Node engine, although few requests reach Node', async () => {
    const [expected, actual] = await Promise.all(
      engines.map(async (engine) => {
        const server = await startCounting(engine)
        const ask = async (): Promise<void> => {
          for (const request of requests) await rawRequest(server.port, request)
        }
        await ask()
        await vi.waitFor(async () => {
          const metrics = await ownMetricsOf(server)
          expect(metrics['serve_dist_request_duration_seconds_count']).toBe(requests.length)
        })
        return [server, await ownMetricsOf(server), ask] as const
      }),
    )
    expect(actual?.[1]).toEqual(expected?.[1])
    expect(actual?.[1]['serve_dist_engine_panics_total']).toBe(0)
    expect(await requestsToNode(async () => await actual?.[2]())).toBe(2)
    await expected?.[2]()
    await vi.waitFor(async () => {
      const [ofNode, ofEngine] = await Promise.all(
        [expected, actual].map(async (one) => one && ownMetricsOf(one[0])),
      )
      expect(ofEngine).toEqual(ofNode)
      expect(ofEngine?.['serve_dist_request_duration_seconds_count']).toBe(2 * requests.length)
    })
  })

  test('the metrics count every response during a swap of builds', async () => {
    const folder = await buildFixture(files)
    const server = await startCounting('native', folder)
    let asked = 0
    const readers = Array.from({ length: 4 }, async () => {
      const connection = await openConnection(server.port)
      for (let index = 0; index < 500; index += 1) {
        connection.send(formatRequest({ target: '/' }))
        await connection.receive()
        asked += 1
      }
      connection.socket.destroy()
    })
    for (const text of ['one', 'two', 'three']) {
      await replaceBuildIn(folder, { ...files, 'index.html': text })
      await server.reload()
    }
    await Promise.all(readers)
    await vi.waitFor(async () => {
      const metrics = await ownMetricsOf(server)
      expect(metrics['serve_dist_requests_total{status="2xx",coding="identity",cache="revalidate"}']).toBe(
        asked,
      )
      expect(metrics['serve_dist_requests_in_flight']).toBe(0)
    })
    const metrics = await metricsOf(server)
    expect(metrics.get('serve_dist_request_duration_seconds_bucket{le="+Inf"}')).toBe(asked)
    expect(metrics.get('serve_dist_request_duration_seconds_sum')).toBeGreaterThan(0)
  })

  test('the log has every response that was sent while JavaScript was blocked', async () => {
    const modules = await writeFixture({
      'entry.mjs': `export default (request, response) => {
        const end = performance.now() + 1000
        while (performance.now() < end);
        response.end('late')
      }`,
    })
    const entries = await logOf(['--engine', 'native', '--ssr', join(modules, 'entry.mjs')], async (port) => {
      await rawRequest(port)
      const blocking = rawRequest(port, { target: '/block' })
      const connection = await openConnection(port)
      for (let index = 0; index < 300; index += 1) {
        connection.send(formatRequest({}))
        await connection.receive()
      }
      connection.socket.destroy()
      await blocking
    })
    const targets = entries.map(({ target }) => String(target))
    expect(targets.toSorted()).toEqual([...Array.from({ length: 301 }, () => '/'), '/block'])
    const answered = entries.filter(({ target, durationMs }) => target === '/' && Number(durationMs) < 500)
    expect(answered.length).toBeGreaterThan(290)
  })

  test('the log has a line for a head that times out', async () => {
    const binding = loadEngine()
    if (typeof binding === 'string') return
    const seen: Exchange[] = []
    const engine = observeEngine({
      durationBuckets: [1],
      note: undefined,
      current: () => undefined,
      addressOf: ({ socket }) => socket.remoteAddress ?? '',
      observers: [{ end: (exchange) => seen.push(exchange) }],
    })
    const watcher = {
      watch: <Listener>(listener: Listener) => listener,
      noteConnection() {},
      noteRefusal() {},
      noteDrop() {},
      engine,
    }
    const limits = { ...connectionLimits, headersTimeout: 500 }
    const options = { takesUploads: false, watcher, limits }
    const transport = createEngineTransport(() => {}, options, { binding, threads: 1 })
    onTestFinished(async () => await transport.drain(0))
    transport.follower?.swap(fakeSite({}))
    const { port } = new URL(await transport.listen({ host: '127.0.0.1', port: 0, flag: '--port' }))
    for (const begin of ['', 'GET / HTT']) {
      const connection = await openConnection(Number(port))
      connection.send(begin)
      expect((await connection.rest()).toString()).toMatch(/^HTTP\/1\.1 408 /)
    }
    await vi.waitFor(() => expect(seen).toHaveLength(1))
    expect(seen).toMatchObject([{ status: 408, error: 'ERR_HTTP_REQUEST_TIMEOUT', address: '127.0.0.1' }])
  })
})
