import { once } from 'node:events'
import { mkdir, rename, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { serve } from '../../src/serve/serve.ts'
import { startOperations } from '../../src/operations/start-operations.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { freePort } from '../support/free-port.ts'
import { openConnection } from '../support/open-connection.ts'
import { parseMetrics } from '../support/parse-metrics.ts'
import { publishFiles } from '../support/publish-files.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { replaceBuildIn } from '../support/replace-build-in.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { testedEngine } from '../support/tested-engine.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

const large = Buffer.alloc(16 * 1024 * 1024, 'abcdefg')
const script = compressibleText(5000)
const anyPort = { host: '127.0.0.1', port: 0 }

let directory: string
beforeAll(async () => {
  directory = await buildFixture(
    { 'index.html': 'page', 'assets/app-1a2b.js': script, 'large.bin': large },
    { isHashed: (path) => path.includes('-1a2b') },
  )
})

function portOf(url: string | undefined): number {
  return Number(new URL(url ?? 'http://nowhere/').port)
}

async function startWatched(): Promise<StartedServer & { readonly opsPort: number }> {
  const server = await startServer(directory, { operations: { ops: anyPort }, site: { largestBody: 1e6 } })
  return { ...server, opsPort: portOf(server.opsUrl) }
}

async function ask(port: number, target: string): Promise<readonly [number, string]> {
  const { status, body } = await rawRequest(port, { target })
  return [status, body.toString()]
}

async function readinessOf(port: number): Promise<readonly [number, unknown]> {
  const { status, body, field } = await rawRequest(port, { target: '/readyz' })
  expect(field('Content-Type')).toBe('application/json')
  return [status, JSON.parse(body.toString())]
}

async function metricsOf(port: number): Promise<ReadonlyMap<string, number>> {
  const { status, body, field } = await rawRequest(port, { target: '/metrics' })
  expect([status, field('Content-Type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  return parseMetrics(body.toString())
}

/** Returns the number of requests of each kind. */
function requestsOf(metrics: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...metrics].filter(([name]) => name.startsWith('serve_dist_requests_total')))
}

describe('the operations listener', () => {
  test('answers probes, and serves nothing of the build', async () => {
    const { opsPort } = await startWatched()
    expect(await ask(opsPort, '/healthz')).toEqual([200, 'ok\n'])
    expect((await ask(opsPort, '/readyz?x=1'))[0]).toBe(200)
    expect((await ask(opsPort, '/'))[0]).toBe(404)
    expect((await ask(opsPort, '/index.html'))[0]).toBe(404)
    const head = await rawRequest(opsPort, { method: 'HEAD', target: '/healthz' })
    expect([head.status, head.field('Content-Length'), head.field('Cache-Control')]).toEqual([
      200,
      '3',
      'no-store',
    ])
    const post = await rawRequest(opsPort, { method: 'POST', target: '/healthz' })
    expect([post.status, post.field('Allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('is not on the public port', async () => {
    const { port } = await startWatched()
    for (const target of ['/healthz', '/readyz', '/metrics']) {
      const fields = { Accept: 'application/json' }
      expect((await rawRequest(port, { target, fields })).status).toBe(404)
    }
  })

  test('does not exist by default', async () => {
    expect((await startServer(directory)).opsUrl).toBeUndefined()
  })

  test('answers before a build is loaded, and reports that it is not ready', async () => {
    const operations = await startOperations({ ops: anyPort })
    const port = portOf(operations.url)
    expect(await ask(port, '/healthz')).toEqual([200, 'ok\n'])
    expect(await readinessOf(port)).toEqual([
      503,
      { status: 'starting', reload: { number: 0, problems: [] } },
    ])
    const names = [...(await metricsOf(port)).keys()]
    expect(names.filter((name) => name.startsWith('serve_dist_build_info'))).toEqual([])
    await operations.close()
  })

  test('closes if the build cannot be served', async () => {
    const port = await freePort()
    const operations = { ops: { host: '127.0.0.1', port } }
    await expect(serve({ directory: '/nowhere', port: 0, operations })).rejects.toThrow(
      'the folder does not exist',
    )
    await expect(openConnection(port)).rejects.toThrow('ECONNREFUSED')
  })

  test('reports not ready while responses finish during a stop, and closes after them', async () => {
    const server = await startWatched()
    // The native engine answers only hosts that Node has seen.
    await rawRequest(server.port)
    const connection = await openConnection(server.port)
    connection.send(formatRequest({ target: '/large.bin' }))
    await once(connection.socket, 'data')
    connection.socket.pause()
    const closed = server.close()
    expect(await readinessOf(server.opsPort)).toMatchObject([503, { status: 'draining' }])
    expect(await ask(server.opsPort, '/healthz')).toEqual([200, 'ok\n'])
    connection.socket.resume()
    await closed
    await expect(openConnection(server.opsPort)).rejects.toThrow('ECONNREFUSED')
  })

  test.each([
    ['that have sent nothing', ''],
    ['that were answered', formatRequest({ target: '/healthz' })],
    ['that have sent half a request', 'GET /healthz HTTP/1.1\r\n'],
  ])('answers while 300 idle connections exist %s', async (_what, sent) => {
    const { opsPort } = await startWatched()
    const idle = await Promise.all(Array.from({ length: 300 }, async () => await openConnection(opsPort)))
    for (const connection of idle) connection.send(sent)
    for (const target of ['/healthz', '/readyz', '/metrics']) {
      expect([target, (await ask(opsPort, target))[0]]).toEqual([target, 200])
    }
    for (const { socket } of idle) socket.destroy()
  })

  test('reports an address that cannot be used', async () => {
    const { opsPort } = await startWatched()
    const operations = { ops: { host: '127.0.0.1', port: opsPort } }
    await expect(serve({ directory, port: 0, operations })).rejects.toThrow(
      `port ${opsPort} on 127.0.0.1 is in use. Stop the program that uses it, or choose another port with --ops`,
    )
  })
})

describe('/readyz', () => {
  test('reports the build and the result of the last reload', async () => {
    const folder = await buildFixture({ 'index.html': 'first' })
    const server = await startServer(folder, { operations: { ops: anyPort } })
    const port = portOf(server.opsUrl)
    const ready = {
      status: 'ready',
      buildId: server.site.buildId,
      unlistedFiles: 0,
      keptBuilds: 0,
      keptFiles: 0,
    }
    expect(await readinessOf(port)).toEqual([200, { ...ready, reload: { number: 0, problems: [] } }])
    await server.reload()
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    expect(await readinessOf(port)).toEqual([
      200,
      { ...ready, reload: { number: 1, outcome: 'unchanged', problems: [], time } },
    ])
    await truncate(join(folder, 'index.html'), 2)
    await server.reload()
    const problems = [
      expect.any(String),
      expect.any(String),
      '  index.html: has 2 bytes, the manifest says 5',
    ]
    expect(await readinessOf(port)).toEqual([
      200,
      { ...ready, reload: { number: 2, outcome: 'refused', problems, time } },
    ])
  })

  test('reports the number of files that the manifest does not list', async () => {
    const folder = await buildFixture({ 'index.html': 'page' })
    await writeFile(join(folder, 'late.txt'), 'late')
    const warnings: string[] = []
    const server = await startServer(folder, {
      operations: { ops: anyPort },
      site: { onWarning: (warning) => warnings.push(warning) },
    })
    expect(warnings).toEqual([expect.stringContaining('1 file is not in the manifest')])
    const [, readiness] = await readinessOf(portOf(server.opsUrl))
    expect(readiness).toMatchObject({ unlistedFiles: 1 })
  })

  test('reports since when the store is unreachable, and stays ready', async () => {
    const folder = await temporaryDirectory()
    const place = { store: join(folder, 'store'), storeCache: join(folder, 'cache') }
    await mkdir(place.store)
    await publishFiles(place.store, { 'index.html': 'page' })
    const operations = { ops: anyPort }
    const server = await serve({
      ...place,
      port: 0,
      storeInterval: 100,
      engine: testedEngine,
      operations,
      site: { onWarning() {} },
    })
    onTestFinished(() => server.close())
    const port = portOf(server.opsUrl)
    expect(await readinessOf(port)).toMatchObject([200, { store: 'reachable' }])
    const label = `{place="${place.store}"}`
    expect((await metricsOf(port)).get(`serve_dist_store_reachable${label}`)).toBe(1)
    await rename(place.store, `${place.store}.away`)
    await vi.waitFor(async () => {
      const since = expect.stringMatching(/^unreachable since \d{4}-\d\d-\d\dT[\d:.]+Z: .*store/)
      expect(await readinessOf(port)).toMatchObject([200, { status: 'ready', store: since }])
    })
    expect((await metricsOf(port)).get(`serve_dist_store_reachable${label}`)).toBe(0)
    await rename(`${place.store}.away`, place.store)
    await vi.waitFor(
      async () => expect(await readinessOf(port)).toMatchObject([200, { store: 'reachable' }]),
      10_000,
    )
  })

  test('runs one reload for all requests that arrive during another', async () => {
    const server = await startServer(directory, { operations: { ops: anyPort } })
    await Promise.all([server.reload(), server.reload(), server.reload()])
    expect(await readinessOf(portOf(server.opsUrl))).toMatchObject([200, { reload: { number: 2 } }])
  })
})

describe('/metrics', () => {
  test('counts requests by status class, coding and cache class, and the bytes of their bodies', async () => {
    const { port, opsPort } = await startWatched()
    expect((await metricsOf(opsPort)).get('serve_dist_request_duration_seconds_count')).toBe(0)
    const fields = { 'Accept-Encoding': 'br' }
    const first = await rawRequest(port, { target: '/assets/app-1a2b.js', fields })
    await rawRequest(port, { target: '/assets/app-1a2b.js', fields })
    await rawRequest(port, { method: 'HEAD', target: '/assets/app-1a2b.js', fields })
    await rawRequest(port, { target: '/' })
    await rawRequest(port, { target: '/', fields: { 'If-None-Match': '*' } })
    await rawRequest(port, { target: '/unknown.js' })
    await vi.waitFor(async () => {
      const metrics = await metricsOf(opsPort)
      expect(requestsOf(metrics)).toEqual({
        'serve_dist_requests_total{status="2xx",coding="br",cache="immutable"}': 3,
        'serve_dist_requests_total{status="2xx",coding="identity",cache="revalidate"}': 1,
        'serve_dist_requests_total{status="3xx",coding="identity",cache="revalidate"}': 1,
        'serve_dist_requests_total{status="4xx",coding="identity",cache="no-store"}': 1,
      })
      expect(metrics.get('serve_dist_sent_bytes_total')).toBe(2 * first.body.length + 4 + 14)
      expect(metrics.get('serve_dist_saved_bytes_total')).toBe(2 * (script.length - first.body.length))
      expect(metrics.get('serve_dist_requests_aborted_total')).toBe(0)
      expect(metrics.get('serve_dist_requests_in_flight')).toBe(0)
      expect(metrics.get('serve_dist_request_duration_seconds_count')).toBe(6)
      expect(metrics.get('serve_dist_request_duration_seconds_bucket{le="+Inf"}')).toBe(6)
    })
  })

  test('counts requests that are rejected before the handler', async () => {
    const { port, opsPort } = await startWatched()
    for (const octets of ['hello\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n']) {
      const connection = await openConnection(port)
      connection.send(octets)
      await connection.rest()
    }
    await vi.waitFor(async () => {
      const metrics = await metricsOf(opsPort)
      expect(requestsOf(metrics)).toEqual({
        'serve_dist_requests_total{status="4xx",coding="identity",cache="other"}': 1,
        'serve_dist_requests_total{status="4xx",coding="identity",cache="no-store"}': 1,
        'serve_dist_requests_total{status="5xx",coding="identity",cache="no-store"}': 1,
      })
      expect(metrics.get('serve_dist_requests_in_flight')).toBe(0)
      // The start time of a malformed request is unknown.
      expect(metrics.get('serve_dist_request_duration_seconds_count')).toBe(2)
      expect(metrics.get('serve_dist_connections_dropped_total')).toBe(0)
    })
  })

  test('counts a request once, and malformed input after it separately', async () => {
    const { port, opsPort } = await startWatched()
    for (const fields of [{ Connection: 'close' }, {}]) {
      const connection = await openConnection(port)
      connection.send(formatRequest({ target: '/large.bin', fields }))
      await once(connection.socket, 'data')
      connection.send('hello\r\n\r\n')
      await connection.rest()
    }
    await vi.waitFor(async () => {
      const metrics = await metricsOf(opsPort)
      expect(requestsOf(metrics)).toEqual({
        'serve_dist_requests_total{status="2xx",coding="identity",cache="revalidate"}': 2,
        // The server reads nothing after the last response of a connection.
        'serve_dist_requests_total{status="4xx",coding="identity",cache="other"}': 1,
      })
      expect(metrics.get('serve_dist_requests_in_flight')).toBe(0)
    })
  })

  test('counts kept files and missing hashed files', async () => {
    const folder = join(await temporaryDirectory(), 'dist')
    const options = { appType: 'spa', assetsDirectory: 'assets' } as const
    await replaceBuildIn(folder, { 'index.html': 'page', 'assets/a-1.js': 'one' }, options)
    const server = await startServer(folder, {
      operations: { ops: anyPort },
      site: { rules: { immutable: ['assets/*'] } },
    })
    await replaceBuildIn(folder, { 'index.html': 'page', 'assets/a-2.js': 'two' }, options)
    await server.reload()
    const asked = ['/assets/a-1.js', '/assets/a-0.js', '/assets/a-0.js.map', '/nothing.js']
    for (const target of asked) await rawRequest(server.port, { target })
    await rawRequest(server.port, { target: '/assets/a-0.css', method: 'HEAD' })
    await vi.waitFor(async () => {
      const metrics = await metricsOf(portOf(server.opsUrl))
      const names = ['skew_misses_total', 'kept_builds', 'kept_files'].map((name) => `serve_dist_${name}`)
      expect(names.map((name) => metrics.get(name))).toEqual([2, 1, 1])
    })
    const [, readiness] = await readinessOf(portOf(server.opsUrl))
    expect(readiness).toMatchObject({ keptBuilds: 1, keptFiles: 1 })
  })

  test('reports the build, the memory, the event loop and the process', async () => {
    const { opsPort, site } = await startWatched()
    const metrics = await metricsOf(opsPort)
    expect(metrics.get(`serve_dist_build_info{build_id="${site.buildId}"}`)).toBe(1)
    expect(metrics.get('serve_dist_held_body_bytes')).toBe(site.summary.bytesInMemory)
    for (const name of [
      'nodejs_eventloop_lag_p99_seconds',
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
      'nodejs_heap_size_used_bytes',
    ]) {
      expect([name, (metrics.get(name) ?? -1) >= 0]).toEqual([name, true])
    }
  })

  test('counts requests whose client leaves, and requests in progress', async () => {
    const { port, opsPort } = await startWatched()
    // The native engine answers only hosts that Node has seen.
    await rawRequest(port)
    const connection = await openConnection(port)
    connection.send(formatRequest({ target: '/large.bin' }))
    await once(connection.socket, 'data')
    connection.socket.pause()
    expect((await metricsOf(opsPort)).get('serve_dist_requests_in_flight')).toBe(1)
    connection.socket.destroy()
    await vi.waitFor(async () => {
      const metrics = await metricsOf(opsPort)
      expect(metrics.get('serve_dist_requests_aborted_total')).toBe(1)
      expect(metrics.get('serve_dist_requests_in_flight')).toBe(0)
    })
  })
})

describe('--ops', () => {
  test('starts with --ops, and has its address in a second start line', async () => {
    const command = spawnCommand([directory, '--port', '0', '--ops', '127.0.0.1:0'])
    const { line } = await command.listening
    command.child.kill('SIGTERM')
    const { code, stdout } = await command.exited
    const [first, second] = stdout.split('\n')
    expect([code, first]).toEqual([0, line])
    expect(second).toMatch(/^health and metrics · http:\/\/127\.0\.0\.1:\d+\/$/)
  })

  test('rejects an invalid address', async () => {
    const { code, stderr } = await spawnCommand([directory, '--ops', 'everywhere']).exited
    expect([code, stderr]).toEqual([1, expect.stringContaining('expected host:port, such as 127.0.0.1:9090')])
  })
})
