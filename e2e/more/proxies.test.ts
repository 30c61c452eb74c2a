import { readdirSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { findProgram } from '../../scripts/find-program.mjs'
import { type ReceivedResponse, sendRequest } from '../src/send-request.ts'
import { type RunningCommand, startCommand } from '../src/start-command.ts'
import { type Proxy, startCaddy, startNginx } from '../src/start-proxy.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'

/** Fields that a proxy may change. */
const itsOwn = ['alt-svc', 'connection', 'date', 'keep-alive', 'server', 'via', 'x-cache']

const { project, dist, command } = inject('packedSpa')
const script = readdirSync(path.join(dist, 'assets')).find((name) => /^vendor-.*\.js$/.test(name)) ?? 'none'
const hashed = `/assets/${script}`
const paths = [
  '/',
  hashed,
  '/downloads/data.csv.gz',
  '/files/100%25.txt',
  '/files/a+b.txt',
  '/files/%5Bbrackets%5D.txt',
  '/data/species.json?page=1',
  '/a%2Fb',
  '/assets/gone-12345678.js',
]
const codings = [undefined, 'identity', 'gzip', 'br', 'zstd', 'gzip, deflate, br, zstd', 'gzip;q=1, br;q=0']
const requests: readonly { readonly target: string; readonly headers: Record<string, string> }[] = [
  ...paths.flatMap((target) =>
    codings.map((coding) => ({ target, headers: coding === undefined ? {} : { 'accept-encoding': coding } })),
  ),
  { target: '/a/page', headers: { 'accept-encoding': 'zstd', 'sec-fetch-mode': 'navigate' } },
  { target: '/robots.txt', headers: { range: 'bytes=0-9' } },
]

let server: RunningCommand
beforeAll(async () => {
  server = await startCommand(command, { args: ['--port', '0'], cwd: project })
})
afterAll(() => server?.stop())

/**
 * Returns a response without fields that a proxy may change. A cache's 304 has the fields of its stored 200.
 */
function comparableResponse({ status, headers, body }: ReceivedResponse): unknown {
  const ignored = status === 304 ? [...itsOwn, 'x-content-type-options'] : itsOwn
  const kept = Object.entries(headers).filter(([name]) => !ignored.includes(name))
  return { status, body, headers: Object.fromEntries(kept) }
}

/**
 * Compares the responses of server and proxy, also with a validator if they have one. Returns the number of
 * 304 responses.
 */
async function expectSameAnswers(proxy: Proxy): Promise<number> {
  let revalidated = 0
  for (const { target, headers } of requests) {
    const ask = async (fields: Record<string, string>) => {
      const direct = await sendRequest(new URL(target, server.url), { headers: fields })
      const proxied = await sendRequest(new URL(target, proxy.url), { headers: fields })
      expect(comparableResponse(proxied), `${target} ${JSON.stringify(fields)}`).toEqual(
        comparableResponse(direct),
      )
      return direct
    }
    const { etag } = (await ask(headers)).headers
    if (etag === undefined) continue
    const again = await ask({ ...headers, 'if-none-match': etag })
    if (again.status === 304) revalidated += 1
  }
  return revalidated
}

const nginx = await findProgram('nginx')
const caddy = await findProgram('caddy')
const isRequired = process.platform === 'linux' && process.env['CI'] !== undefined

describe.skipIf(nginx === undefined && !isRequired)('nginx', () => {
  const program = nginx ?? 'nginx'

  test.each(['serve-dist.conf', 'serve-dist-cache.conf'])(
    'with deploy/nginx/%s changes no response',
    async (configuration) => {
      const proxy = await startNginx(configuration, {
        program,
        origin: server.url,
        directory: await temporaryFolder(),
      })
      try {
        expect(await expectSameAnswers(proxy)).toBeGreaterThan(40)
        if (configuration !== 'serve-dist-cache.conf') return
        const cached = await sendRequest(new URL(hashed, proxy.url), {
          headers: { 'accept-encoding': 'zstd' },
        })
        expect(cached.headers['x-cache']).toBe('HIT')
      } finally {
        await proxy.stop()
      }
    },
  )
})

describe.skipIf(caddy === undefined && !isRequired)('Caddy', () => {
  test('with deploy/caddy/Caddyfile changes no response', async () => {
    const proxy = await startCaddy({
      program: caddy ?? 'caddy',
      origin: server.url,
      directory: await temporaryFolder(),
    })
    try {
      expect(await expectSameAnswers(proxy)).toBeGreaterThan(40)
    } finally {
      await proxy.stop()
    }
  })
})
