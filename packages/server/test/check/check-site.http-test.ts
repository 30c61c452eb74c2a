import { once } from 'node:events'
import { createServer, type IncomingMessage, request as sendRequest, type RequestListener } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkSite } from '../../src/check/check-site.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { serve } from '../../src/serve/serve.ts'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { offerOf, publishDeltas } from '../support/publish-deltas.ts'
import { runCheck } from '../support/run-check.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { makeStore } from '../support/start-from-store.ts'
import { startServer } from '../support/start-server.ts'
import { testedEngine } from '../support/tested-engine.ts'

const script = compressibleText(20_000)
const files = {
  'index.html': `<!doctype html><script type="module" src="assets/main-12345678.js"></script>${script}`,
  'guide/index.html': script,
  'about.html': 'small',
  '404.html': 'nothing here',
  'assets/main-12345678.js': script,
  'files/a+b 100%.txt': script,
  'photo.jpg': new Uint8Array(3000).fill(7),
}
const hashed = { isHashed: (path: string) => path.startsWith('assets/') }

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('listens on no port')
  return `http://127.0.0.1:${address.port}`
}

/** Starts a proxy in front of a site. It changes responses as `relay` returns, or cuts the connection. */
async function startProxy(
  url: string,
  relay: (request: IncomingMessage) =>
    | {
        readonly path?: string
        readonly asked?: Readonly<Record<string, string>>
        readonly answered?: Readonly<Record<string, string>>
      }
    | undefined,
): Promise<string> {
  return await listen((request, response) => {
    const relayed = relay(request)
    if (relayed === undefined) return request.socket.destroy()
    const { path = request.url ?? '/', asked, answered } = relayed
    const headers = { ...request.headers, ...asked }
    return sendRequest(new URL(path, url), { method: request.method ?? 'GET', headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, { ...answer.headers, ...answered })
      answer.pipe(response)
    }).end()
  })
}

async function startSite(
  options?: Parameters<typeof startServer>[1],
): Promise<{ readonly url: string; readonly directory: string }> {
  const directory = await buildFixture(files, hashed)
  return { url: (await startServer(directory, options)).url, directory }
}

describe('serve-dist check of a site', () => {
  test('reports no finding for a site that serve-dist serves, and lists what it checked', async () => {
    const { url, directory } = await startSite()
    expect(await runCheck([url, '--build', directory])).toMatchObject({
      code: 0,
      found: [],
      right: [
        'bytes of 7 files',
        'codings',
        'ETag',
        '304',
        'Vary',
        'Cache-Control',
        '404 for a missing script',
      ],
    })
  })

  test('prints the number of requests and bytes before it starts, and does not exceed them', async () => {
    const { url, directory } = await startSite()
    let requests = 0
    const counting = await listen((request, response) => {
      requests += 1
      const { method = 'GET', url: path = '/' } = request
      void fetch(new URL(path, url), { method }).then(() => response.writeHead(404).end())
    })
    const { stderr } = await runCheck([counting, '--build', directory])
    expect(stderr).toMatch(
      /^checking http:\/\/\S+ with 7 of 7 files of \S+: up to (\d+) requests, \d+\.\d kB, 4 at a time\n$/,
    )
    expect(requests).toBeLessThanOrEqual(Number(/(\d+) requests/.exec(stderr)?.[1]))
  })

  test('ends the check of a site that sends its bytes very slowly', async () => {
    const site = await loadSite(await buildFixture(files, hashed))
    const address = await listen((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' })
      const drips = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(drips))
    })
    const report = await checkSite(new URL(address), site, {
      fields: {},
      address: undefined,
      insecure: false,
      concurrency: 4,
      all: false,
      timeLimit: 300,
      onPlan: () => {},
      onProgress: () => {},
    })
    expect(report).toMatchObject({
      findings: [],
      stopped: expect.stringMatching(/ answered 0 of up to \d+ requests in 1 s, which is too slow\. /),
    })
  })

  describe('of a site with deltas', () => {
    const old = compressibleText(20_000, 'old')
    const path = '/assets/main-2.js'
    const now = { 'index.html': 'page', 'assets/main-2.js': script }

    /** Starts a site with deltas. Returns its address and a folder with its build. */
    async function startWithDeltas(): Promise<{ url: string; build: string }> {
      const place = await makeStore()
      await publishDeltas(place.store, now, { 'assets/main-2.js': [old] })
      const server = await serve({ ...place, port: 0, gracePeriod: 100, engine: testedEngine })
      onTestFinished(() => server.close())
      return { url: server.url, build: await buildFixture(now, hashed) }
    }

    test('reports no finding if only clients with the dictionary get deltas', async () => {
      const { url, build } = await startWithDeltas()
      expect(await runCheck([url, '--build', build])).toMatchObject({ code: 0, found: [] })
    })

    test('finds a Vary that does not name the dictionary fields', async () => {
      const { url, build } = await startWithDeltas()
      const address = await startProxy(url, () => ({ answered: { vary: 'Accept-Encoding' } }))
      expect(await runCheck([address, '--build', build])).toMatchObject({
        code: 1,
        found: ['no-dictionary-vary'],
      })
    })

    test('finds a delta that is sent to a client with another dictionary', async () => {
      const { url, build } = await startWithDeltas()
      const asked = { 'available-dictionary': offerOf(old) }
      const address = await startProxy(url, ({ url: target, headers }) =>
        target === path && 'available-dictionary' in headers ? { asked } : {},
      )
      expect(await runCheck([address, '--build', build])).toMatchObject({ code: 1, found: ['unasked-delta'] })
    })
  })

  test('requests paths below the base of the build', async () => {
    const directory = await buildFixture(files, { ...hashed, base: '/app/' })
    const { url } = await startServer(directory)
    const { origin } = new URL(url)
    for (const address of [origin, `${origin}/app/`, `${origin}/app`]) {
      expect(await runCheck([address, '--build', directory])).toMatchObject({ code: 0, found: [] })
    }
    const { code, found, texts } = await runCheck([`${origin}/other/`, '--build', directory])
    expect({ code, found }).toEqual({ code: 1, found: ['other-path'] })
    expect(texts.join()).toContain(
      'the base of the build is /app/, and 7 of 7 files differ or are missing below /other/',
    )
  })

  test('finds HTTP/2 over TLS, and accepts an untrusted certificate only with --insecure', async () => {
    const { url, directory } = await startSite({ tls: await writeCertificate() })
    expect(await runCheck([url, '--build', directory])).toMatchObject({
      code: 1,
      found: [],
      stopped: expect.stringMatching(/^https:\S+ shows a certificate that is not trusted .*--insecure/),
    })
    const { code, found, right } = await runCheck([url, '--build', directory, '--insecure'])
    expect({ code, found }).toEqual({ code: 0, found: [] })
    expect(right).toContain('HTTP/2')
  })

  test.each(['site.example', '127.site.example'])(
    'connects to the address of --resolve, and reports the cost of plain HTTP: %s',
    async (host) => {
      const directory = await buildFixture(files, hashed)
      const { port } = await startServer(directory)
      const address = `http://${host}:${port}`
      const run = await runCheck([address, '--build', directory, '--resolve', `${host}:${port}:127.0.0.1`])
      expect(run).toMatchObject({ code: 0, found: ['plain-http'] })
      const other = spawnCommand([
        'check',
        address,
        '--build',
        directory,
        '--resolve',
        'x.example:80:127.0.0.1',
      ])
      expect((await other.exited).stderr).toContain(`Write ${host}:${port}:127.0.0.1`)
    },
  )

  test('reports another build as a single finding', async () => {
    const directory = await buildFixture(files, hashed)
    const other = await buildFixture({ 'index.html': 'another', 'assets/other-12345678.js': script })
    const { url } = await startServer(other)
    const { code, found } = await runCheck([url, '--build', directory])
    expect({ code, found }).toEqual({ code: 1, found: ['other-build'] })
  })

  test('reports different files if the request for the build id fails', async () => {
    const directory = await buildFixture(files, hashed)
    const { url } = await startServer(await buildFixture({ ...files, 'index.html': 'earlier' }, hashed))
    const proxy = await startProxy(url, (request) =>
      request.url === '/__serve-dist/build.json' ? undefined : {},
    )
    const { code, found } = await runCheck([proxy, '--build', directory])
    expect({ code, found }).toEqual({ code: 1, found: ['other-bytes'] })
  })

  test('reports another build of which only the rules differ, as before a restart', async () => {
    const directory = await buildFixture(files, { ...hashed, serving: { securityHeaders: true } })
    const { url } = await startServer(await buildFixture(files, hashed))
    const { code, found, texts } = await runCheck([url, '--build', directory])
    expect({ code, found }).toEqual({ code: 1, found: ['other-build'] })
    expect(texts.join()).toContain('the build id is another one')
  })

  test('reports another build of which only the page differs, as after a rollback', async () => {
    const directory = await buildFixture(files, hashed)
    const { url } = await startServer(await buildFixture({ ...files, 'index.html': 'earlier' }, hashed))
    const { code, found } = await runCheck([url, '--build', directory])
    expect({ code, found }).toEqual({ code: 1, found: ['other-build'] })
  })

  test.each<readonly [string, RequestListener, RegExp]>([
    ['401', (_request, response) => response.writeHead(401).end(), /answers 401\. Pass credentials with -H/],
    ['403', (_request, response) => response.writeHead(403).end(), /answers 403\. Allow this client/],
    ['429', (_request, response) => response.writeHead(429).end(), /answers 429\. Raise the rate limit/],
    ['502', (_request, response) => response.writeHead(502).end(), /answers 502/],
    [
      'a redirect to a login',
      (_request, response) => response.writeHead(302, { location: '/login?next=/' }).end(),
      /redirects to http:\/\/127\.0\.0\.1:\d+\/login\. Sign in, .*-H 'Cookie/,
    ],
    [
      'a redirect to a sign-in page',
      (_request, response) => response.writeHead(303, { location: 'https://id.example/start' }).end(),
      /redirects to https:\/\/id\.example\/start\. Sign in/,
    ],
    [
      'a redirect to HTTPS',
      (_request, response) => response.writeHead(308, { location: 'https://site.example/' }).end(),
      /Check https:\/\/site\.example instead/,
    ],
  ])('stops at %s with the reason and the fix, and reports no finding', async (_what, listener, sentence) => {
    const directory = await buildFixture(files)
    const run = await runCheck([await listen(listener), '--build', directory])
    expect(run).toMatchObject({ code: 1, found: [], right: [], stopped: expect.stringMatching(sentence) })
  })

  test.each([
    ['localhost:4173', 'http://localhost:4173'],
    ['127.0.0.1:9', 'http://127.0.0.1:9'],
    ['site.example', 'https://site.example'],
  ])('suggests a URL for %s', async (host, url) => {
    const { stderr } = await spawnCommand(['check', host]).exited
    expect(stderr).toContain(`no such folder. To check a site, write ${url}\n`)
  })

  test('says that a site does not speak TLS', async () => {
    const { url, directory } = await startSite()
    const run = await runCheck([url.replace('http:', 'https:'), '--build', directory])
    expect(run).toMatchObject({
      code: 1,
      stopped: expect.stringContaining(`does not speak TLS. Write ${url}`),
    })
  })

  test('does not mistake the 304 of a file such as auth-layout.js for a redirect to a login', async () => {
    const directory = await buildFixture({ ...files, 'assets/auth-layout-12345678.js': script }, hashed)
    const { url } = await startServer(directory)
    const { code, found, stopped } = await runCheck([url, '--build', directory])
    expect({ code, found, stopped }).toEqual({ code: 0, found: [], stopped: undefined })
  })

  test.each([
    ['application/javascript', []],
    ['application/x-javascript; charset=utf-8', []],
    ['text/plain', ['media-type']],
  ])('accepts %s as the type of a script only if browsers run it', async (type, found) => {
    const { url, directory } = await startSite()
    const address = await startProxy(url, ({ url: path = '' }) =>
      path.endsWith('.js') ? { answered: { 'content-type': type } } : {},
    )
    expect((await runCheck([address, '--build', directory])).found).toEqual(found)
  })

  test('stops at a 429 after other checks have succeeded', async () => {
    const directory = await buildFixture(files)
    const { url } = await startServer(directory)
    let asked = 0
    const limiting = await listen((request, response) => {
      asked += 1
      if (asked > 5) response.writeHead(429).end()
      else
        void fetch(new URL(request.url ?? '/', url)).then(async (answer) =>
          response.writeHead(answer.status, { etag: '"x"' }).end(await answer.text()),
        )
    })
    const run = await runCheck([limiting, '--build', directory])
    expect(run).toMatchObject({ code: 1, found: [], stopped: expect.stringContaining('answers 429') })
    // Three other requests had already started.
    expect(asked).toBeLessThanOrEqual(9)
  })

  test('stops at a 429 while other requests get no answer', async () => {
    const directory = await buildFixture(files)
    const limiting = await listen((request, response) => {
      if (request.url === '/') response.setHeader('content-type', 'text/html').end('page')
      // All other requests stay open without an answer.
      else if (request.url?.startsWith('/assets/') === true) response.writeHead(429).end()
    })
    const started = performance.now()
    const run = await runCheck([limiting, '--build', directory])
    expect(run).toMatchObject({ code: 1, stopped: expect.stringContaining('answers 429') })
    expect(performance.now() - started).toBeLessThan(20_000)
  })

  test('sends the fields of -H to a site that requires them', async () => {
    const { url, directory } = await startSite()
    const guarded = await listen((request, response) => {
      if (request.headers.authorization !== 'Bearer 1') response.writeHead(401).end()
      else response.writeHead(307, { location: new URL(request.url ?? '/', url).href }).end()
    })
    const refused = await runCheck([guarded, '--build', directory])
    expect(refused.stopped).toContain('answers 401')
    const admitted = await runCheck([guarded, '--build', directory, '-H', 'Authorization: Bearer 1'])
    expect(admitted.stopped).toContain(`Check ${new URL(url).origin} instead`)
  })

  test('stops if no server listens', async () => {
    const directory = await buildFixture(files)
    expect(await runCheck(['http://127.0.0.1:1', '--build', directory])).toMatchObject({
      code: 1,
      found: [],
      stopped: expect.stringMatching(/does not answer \(.*ECONNREFUSED/),
    })
  })

  test.each([
    [
      ['dist', '--build', 'other'],
      '--build: only for the check of a site, such as "npx serve-dist check https://example.org". dist is a folder.',
    ],
    [['www.example.org/app/'], 'To check a site, write https://www.example.org/app/'],
    [['https://user@example.org'], 'without query, fragment and password'],
    [['https://example.org', '-H', 'no field'], '--header: expected a header such as'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await spawnCommand(['check', ...args]).exited
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) })
  })

  test.each([
    ['https://:geheim@example.org'],
    ['https://somebody:geheim@example.org'],
    ['https://example.org', '-H', 'Authorization: Bearer geheim\r'],
  ])('does not print a password that it refuses: %j', async (...args) => {
    const { code, stderr } = await spawnCommand(['check', ...args]).exited
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/expected a (URL|header)/),
    })
    expect(stderr).not.toContain('geheim')
  })

  test('reports a site that cuts the connection for a missing script', async () => {
    const { url, directory } = await startSite()
    const cutting = await startProxy(url, ({ url: path = '' }) =>
      path.includes('serve-dist-check-') ? undefined : {},
    )
    const { code, found } = await runCheck([cutting, '--build', directory])
    expect({ code, found }).toEqual({ code: 1, found: ['failed'] })
  })

  test('requests paths below the path of the given address', async () => {
    const { url, directory } = await startSite()
    const mounted = await startProxy(url, ({ url: path = '' }) => ({ path: path.replace(/^\/docs\//, '/') }))
    const { code, found } = await runCheck([`${mounted}/docs/`, '--build', directory])
    expect({ code, found }).toEqual({ code: 0, found: [] })
  })

  test('requires a manifest to compare with', async () => {
    const directory = await writeFixture(files)
    const { code, stderr } = await spawnCommand(['check', 'http://127.0.0.1:1', '--build', directory]).exited
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('SD_MANIFEST_MISSING') })
  })

  test('requests the pages and 50 more files of a large build, and all files with --all', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 120 }, (_, index) => [`data/${index}.txt`, `file ${index}`]),
    )
    const directory = await buildFixture({ ...files, ...many })
    const { url } = await startServer(directory)
    const some = await runCheck([url, '--build', directory])
    expect(some.stderr).toContain('with 54 of 127 files')
    const all = await runCheck([url, '--build', directory, '--all'])
    expect(all.stderr).toContain('with 127 of 127 files')
    expect([some.found, all.found]).toEqual([[], []])
  })
})
