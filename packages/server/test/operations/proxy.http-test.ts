import { describe, expect, test } from 'vitest'
import { checkFolder } from '../../src/check/check-folder.ts'
import { explainRequest, loadExplainedSite } from '../../src/command/explain-command.ts'
import { parseProxies } from '../../src/command/flag-values.ts'
import { formatExplanation } from '../../src/explain/format-explanation.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { freePort } from '../support/free-port.ts'
import { parseMetrics } from '../support/parse-metrics.ts'
import { rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startTarget } from '../support/start-target.ts'

const directory = await buildFixture({ 'index.html': 'the page', 'api/file.js': 'file' })

test('the log and the metrics name the rule, the status and the time of the target', async () => {
  const target = await startTarget()
  const ops = await freePort()
  const proxies = `/api=${target.url},/down=http://127.0.0.1:1`
  const command = spawnCommand([directory, '--port=0', '--access-log=json', `--ops=${ops}`], {
    env: { PROXY: proxies },
  })
  const { port } = await command.listening
  for (const path of ['/api/x', '/down/x', '/']) await rawRequest(port, { target: path })
  const metrics = parseMetrics((await rawRequest(ops, { target: '/metrics' })).body.toString())
  expect((await rawRequest(ops, { target: '/readyz' })).status).toBe(200)
  command.child.kill('SIGTERM')
  const { stdout } = await command.exited
  const entries: Record<string, unknown>[] = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
  expect(entries).toMatchObject([
    { target: '/api/x', status: 200, upstream: '/api/*', upstreamStatus: 200 },
    { target: '/down/x', status: 502, upstream: '/down/*', error: 'ECONNREFUSED' },
    { target: '/', status: 200 },
  ])
  expect(entries[0]?.['upstreamTime']).toBeGreaterThan(0)
  expect(entries[2]).not.toHaveProperty('upstream')
  expect(stdout).not.toContain('127.0.0.1:1"')
  expect(metrics.get('serve_dist_upstream_requests_total{rule="/api/*",status="2xx"}')).toBe(1)
  expect(metrics.get('serve_dist_upstream_requests_total{rule="/down/*",status="failed"}')).toBe(1)
})

test.each([
  ['/api=http://backend:3000', '/api/*', 'http://backend:3000'],
  [' /api/* = http://backend:3000/ ', '/api/*', 'http://backend:3000/:splat'],
  ['/api/=http://backend/v1/', '/api/*', 'http://backend/v1/:splat'],
  ['/api=http://backend/v1/:splat', '/api/*', 'http://backend/v1/:splat'],
  ['/=unix:/run/api.sock', '/*', 'unix:/run/api.sock'],
  ['/api=unix:/run/api.sock:/v1', '/api/*', 'unix:/run/api.sock:/v1/:splat'],
])('--proxy %s is the rule from %s to %s', (text, from, to) => {
  expect(parseProxies(text)).toEqual([{ from, to, status: 200, force: true }])
})

describe('the commands that inspect', () => {
  const proxy = parseProxies('/api=http://backend:3000/v1')

  const ask = async (path: string, method = 'POST'): Promise<string> => {
    const flags = { method, proxy }
    const site = await loadExplainedSite(directory, flags)
    return formatExplanation(site, await explainRequest(site, path, flags))
  }

  test('explain names the target of a proxied path', async () => {
    expect(await ask('/api/file.js?x')).toContain(
      'The target of the rule /api/* would answer. It was not asked.\n\n2. the rule /api/* overrides /api/file.js (Proxied paths)\n3. the rule /api/* forwards the request to http://backend:3000 as /v1/file.js?x (Proxied paths)',
    )
    expect(await ask('/api/../x')).toContain('does not forward paths with dot segments')
    expect(await ask('/api/x', 'TRACE')).toMatch(/^405 Method Not Allowed[^]+does not forward TRACE/m)
  })

  test('explain shows variables that are not set', async () => {
    const folder = await buildFixture(
      { 'index.html': 'page' },
      { serving: { redirects: [{ from: '/api/*', to: { env: 'SD_TEST_UNSET' }, status: 200 }] } },
    )
    const flags = { method: 'GET' }
    const site = await loadExplainedSite(folder, flags)
    expect(formatExplanation(site, await explainRequest(site, '/api/x', flags))).toContain(
      'forwards the request to $SD_TEST_UNSET as /api/x',
    )
  })

  test('check knows proxied paths', async () => {
    const folder = await buildFixture({ 'index.html': '<script src="/api/gone.js"></script>' })
    const load = { rules: { redirects: proxy } }
    const { findings, right } = await checkFolder(folder, { load, hasApplication: false })
    expect(findings.filter(({ code }) => code === 'page-needs-missing')).toEqual([])
    expect(right).toContain('proxied paths: /api/*')
  })
})
