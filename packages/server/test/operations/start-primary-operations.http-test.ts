import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { readChildProcessId, readChildProcessIds } from '../support/read-child-process-ids.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { freePort } from '../support/free-port.ts'
import { openConnection } from '../support/open-connection.ts'
import { parseMetrics } from '../support/parse-metrics.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { twoProcessFlags } from '../support/two-process-flags.ts'

let directory: string
let two: readonly string[]
beforeAll(async () => {
  two = await twoProcessFlags()
  directory = await buildFixture({ 'index.html': compressibleText(5000) })
})

async function metricsOf(port: number): Promise<ReadonlyMap<string, number>> {
  const { status, body } = await rawRequest(port, { target: '/metrics' })
  expect([status, body.toString().split('\n')[0]]).toEqual([200, expect.stringMatching(/^# HELP/)])
  return parseMetrics(body.toString())
}

describe.skipIf(process.platform !== 'linux')('--ops with --workers', () => {
  test("sums the workers' metrics, and merges their logs", async () => {
    const opsPort = await freePort()
    const flags = `--access-log json --ops 127.0.0.1:${opsPort}`.split(' ')
    const command = spawnCommand([directory, ...two, ...flags])
    const { port, line } = await command.listening
    let said = ''
    command.child.stdout?.on('data', (text: string) => {
      said += text
    })
    expect(JSON.parse((await rawRequest(opsPort, { target: '/readyz' })).body.toString())).toEqual({
      status: 'ready',
      buildId: expect.stringMatching(/^\w+$/),
      unlistedFiles: 0,
      keptBuilds: 0,
      keptFiles: 0,
      reload: { number: 0, problems: [] },
    })

    const loads = Array.from({ length: 12 }, async () => {
      const connection = await openConnection(port)
      for (let index = 0; index < 50; index += 1) {
        connection.send(formatRequest({ fields: { 'User-Agent': 'load'.repeat(60) } }))
        await connection.receive()
      }
      connection.socket.end()
    })
    await Promise.all(loads)
    await vi.waitFor(async () => {
      const metrics = await metricsOf(opsPort)
      const key = 'serve_dist_requests_total{status="2xx",coding="identity",cache="revalidate"}'
      expect(metrics.get(key)).toBe(600)
      expect(metrics.get('serve_dist_request_duration_seconds_count')).toBe(600)
      const builds = [...metrics].filter(([name]) => name.startsWith('serve_dist_build_info'))
      expect(builds.map(([, value]) => value)).toEqual([1])
      expect(metrics.has('process_start_time_seconds')).toBe(false)
    })

    // Wait because unwritten lines of a worker are lost when it ends.
    await vi.waitFor(() => expect(said.match(/^\{.*\n/gm)).toHaveLength(600))
    process.kill(await readChildProcessId(command.child.pid), 'SIGKILL')
    expect((await rawRequest(opsPort, { target: '/readyz' })).status).toBe(200)
    await vi.waitFor(async () => {
      expect(await readChildProcessIds(command.child.pid)).toHaveLength(2)
    })
    command.child.kill('SIGTERM')
    const { code, stdout } = await command.exited
    const lines = stdout
      .trimEnd()
      .split('\n')
      .filter((text) => text.startsWith('{'))
    expect([code, stdout.startsWith(`${line}\n`)]).toEqual([0, true])
    expect(lines.map((text) => Object(JSON.parse(text)).status)).toEqual(
      Array.from({ length: 600 }, () => 200),
    )
  })

  test('reports a stuck worker, and sums its last known metrics', async () => {
    const opsPort = await freePort()
    const sign = join(await temporaryDirectory(), 'stuck')
    const module = join(await temporaryDirectory(), 'entry.mjs')
    await writeFile(
      module,
      `import { writeFileSync } from 'node:fs'
      export default () => { writeFileSync(${JSON.stringify(sign)}, ''); for (;;); }`,
    )
    const flags = `--port 0 --workers 2 --grace 100ms --ops 127.0.0.1:${opsPort} --ssr ${module}`.split(' ')
    const command = spawnCommand([directory, ...flags])
    const { port } = await command.listening
    for (let index = 0; index < 20; index += 1) await rawRequest(port)
    const key = 'serve_dist_requests_total{status="2xx",coding="identity",cache="revalidate"}'
    await vi.waitFor(async () => expect((await metricsOf(opsPort)).get(key)).toBe(20))
    const { socket } = await openConnection(port)
    socket.write(formatRequest({ target: '/stuck' }))
    await vi.waitUntil(() => existsSync(sign))
    const metrics = await metricsOf(opsPort)
    expect([
      metrics.get(key),
      metrics.get('serve_dist_workers{state="answering"}'),
      metrics.get('serve_dist_workers{state="silent"}'),
    ]).toEqual([20, 1, 1])
    await metricsOf(opsPort)
    command.child.kill('SIGTERM')
    const { code, stderr } = await command.exited
    expect(code).toBe(0)
    expect(stderr).toMatch(
      /^serve-dist: worker \d+ did not send its metrics within 2 s. Its last known metrics are used.\n$/,
    )
    socket.destroy()
  })

  test('reports workers whose metrics fail, keeps them running, and sums their last known metrics', async () => {
    const opsPort = await freePort()
    const sign = join(await temporaryDirectory(), 'ill')
    const fault = `
      import cluster from 'node:cluster'
      import { existsSync } from 'node:fs'
      import { createRequire } from 'node:module'
      const { Registry } = createRequire(${JSON.stringify(import.meta.url)})('prom-client')
      const { getMetricsAsJSON } = Registry.prototype
      Registry.prototype.getMetricsAsJSON = async function () {
        if (cluster.isWorker && existsSync(${JSON.stringify(sign)})) throw new Error('no numbers')
        return await getMetricsAsJSON.call(this)
      }`
    const command = spawnCommand([directory, ...two, '--ops', `127.0.0.1:${opsPort}`], {
      nodeOptions: ['--import', `data:text/javascript,${encodeURIComponent(fault)}`],
    })
    const { port } = await command.listening
    const workers = await readChildProcessIds(command.child.pid)
    await rawRequest(port)
    const key = 'serve_dist_requests_total{status="2xx",coding="identity",cache="revalidate"}'
    await vi.waitFor(async () => expect((await metricsOf(opsPort)).get(key)).toBe(1))
    await writeFile(sign, '')
    for (let scrape = 0; scrape < 2; scrape += 1) {
      const metrics = await metricsOf(opsPort)
      expect([
        metrics.get(key),
        metrics.get('serve_dist_workers{state="answering"}'),
        metrics.get('serve_dist_workers{state="silent"}'),
      ]).toEqual([1, 0, 2])
    }
    expect((await rawRequest(port)).status).toBe(200)
    expect(await readChildProcessIds(command.child.pid)).toEqual(workers)
    command.child.kill('SIGTERM')
    const { code, stderr } = await command.exited
    expect(code).toBe(0)
    expect(stderr).toMatch(
      /^(serve-dist: worker \d+ cannot read its metrics \(Error: no numbers\). Its last known metrics are used.\n){2}$/,
    )
  })

  test('closes its listener if the workers cannot start', async () => {
    const opsPort = await freePort()
    const flags = `--port 0 --workers 2 --ops 127.0.0.1:${opsPort}`.split(' ')
    const { code, stderr } = await spawnCommand(['/nowhere', ...flags]).exited
    expect([code, stderr]).toEqual([1, expect.stringContaining('the folder does not exist')])
  })
})
