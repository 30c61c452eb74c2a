import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Manifest,
  manifestPath,
  parseManifest,
  type ServingRules,
  stringifyManifest,
} from '@serve-dist/manifest'
import { beforeAll, describe, expect, test } from 'vitest'
import { explain } from '../../src/explain/explain.ts'
import { explainFields } from '../../src/explain/explain-fields.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { buildFixture, type FixtureFiles, writeFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { createRequestFields } from '../support/create-request-fields.ts'
import { requestTwice } from '../support/request-twice.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

const hash = `sha256-${'a'.repeat(43)}=`
const other = `sha256-${'b'.repeat(43)}=`
const plain =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self' data:; form-action 'self'; object-src 'none'; base-uri 'self'; frame-ancestors 'self'"

const files = {
  'index.html': `<!doctype html><title>spa</title>${compressibleText(2000)}`,
  'about.html': 'about',
  '404.html': 'nothing here',
  'drawing.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'feed.xml': '<feed/>',
  'assets/app.js': compressibleText(3000),
  'assets/worker.js': compressibleText(3000),
}

/** Builds a fixture whose manifest has these additional properties. */
async function buildWith(
  change: (manifest: Manifest) => Manifest,
  given: FixtureFiles = files,
): Promise<string> {
  const directory = await buildFixture(given, { appType: 'spa' })
  const file = join(directory, manifestPath)
  await writeFile(file, stringifyManifest(change(parseManifest(await readFile(file, 'utf8')))))
  return directory
}

function withHashes(manifest: Manifest): Manifest {
  return {
    ...manifest,
    policy: {},
    files: manifest.files.map((file) => {
      if (file.path === 'index.html')
        return { ...file, policy: { scripts: [hash], styleAttributes: [other] } }
      if (file.path === '404.html') return { ...file, policy: { styles: [other] } }
      return file.path === 'assets/worker.js' ? { ...file, worker: true } : file
    }),
  }
}

function withManyHashes(manifest: Manifest, count: number): Manifest {
  const scripts = Array.from(
    { length: count },
    (_none, index) => `sha256-${String(index).padStart(43, 'c')}=`,
  )
  return {
    ...manifest,
    policy: {},
    files: manifest.files.map((file) =>
      file.path === 'index.html' ? { ...file, policy: { scripts } } : file,
    ),
  }
}

async function serveWith(rules: ServingRules): Promise<StartedServer> {
  return await startServer(await buildWith(withHashes), {
    site: { rules, onWarning: () => {} },
    handler: { fileSystemFallback: true },
  })
}

async function freshnessOf({ port }: StartedServer, target: string): Promise<string | undefined> {
  return (await requestTwice(port, { target })).field('Cache-Control')
}

describe('csp: true', () => {
  let server: StartedServer
  beforeAll(async () => {
    server = await serveWith({ csp: true })
  })

  const ofIndex = plain
    .replace("script-src 'self'", `script-src 'self' '${hash}'`)
    .replace("style-src 'self'", `style-src 'self'; style-src-attr 'unsafe-hashes' '${other}'`)

  test.each([
    ['a page, with its own hashes', '/', ofIndex],
    ['a page without inline code', '/about', plain],
    ['SVG', '/drawing.svg', plain],
    ['XML', '/feed.xml', plain],
    ['the script of a worker', '/assets/worker.js', plain],
    ['any other script', '/assets/app.js', undefined],
  ])('has its field on %s', async (_what, target, value) => {
    const response = await requestTwice(server.port, { target })
    expect(response.status).toBe(200)
    expect(response.field('Content-Security-Policy')).toBe(value)
  })

  test('has its field on every representation, including ranges and 304', async () => {
    const responses = await Promise.all(
      [{ 'Accept-Encoding': 'br' }, { Range: 'bytes=0-9' }, { 'If-None-Match': '*' }].map((fields) =>
        requestTwice(server.port, { target: '/', fields }),
      ),
    )
    expect(responses.map(({ status }) => status)).toEqual([200, 206, 304])
    for (const response of responses) expect(response.field('Content-Security-Policy')).toBe(ofIndex)
  })

  test('has the policy of the fallback page on a fallback response', async () => {
    const missing = await requestTwice(server.port, { target: '/none', fields: { Accept: 'text/html' } })
    expect(missing.status).toBe(404)
    expect(missing.field('Content-Security-Policy')).toContain(`style-src 'self' '${other}'`)
  })

  test('prevents a worker script from being immutable, although its name has a hash', async () => {
    const immutable = ['assets/*']
    const guarded = await serveWith({ csp: true, immutable })
    expect(await freshnessOf(guarded, '/assets/worker.js')).toBe('no-cache')
    expect(await freshnessOf(guarded, '/assets/app.js')).toContain('immutable')
    expect(await freshnessOf(await serveWith({ immutable }), '/assets/worker.js')).toContain('immutable')
  })

  test('adds a policy without hashes to files that appear later', async () => {
    await writeFile(join(server.site.directory, 'later.html'), 'later')
    const response = await requestTwice(server.port, { target: '/later' })
    expect([response.status, response.field('Content-Security-Policy')]).toEqual([200, plain])
  })
})

describe('explain of a policy', () => {
  test.each([
    [
      '/',
      `csp of the plugin and serve-dist.config, --csp or CSP; hashes of the inline code of this page: '${hash}', '${other}'`,
    ],
    [
      '/about',
      'csp of the plugin and serve-dist.config, --csp or CSP; no hashes, because nothing inline in this page needs one',
    ],
    [
      '/assets/worker.js',
      'csp of the plugin and serve-dist.config, --csp or CSP; no hashes, because the file is not a page',
    ],
  ])('reports for %s the source of the policy, and the hashes of the page', async (target, why) => {
    const directory = await buildWith((manifest) => ({ ...withHashes(manifest), serving: { csp: true } }))
    const site = await loadSite(directory, { rules: { csp: { 'connect-src': ["'self'"] } } })
    const fields = explainFields(site, explain(site, createRequestFields({ target }), 'spa'))
    expect(fields.find(({ name }) => name === 'Content-Security-Policy')).toMatchObject({ why })
  })

  test('reports why the worker script is revalidated each time', async () => {
    const site = await loadSite(await buildWith(withHashes), {
      rules: { csp: true, immutable: ['assets/*'] },
    })
    const fields = explainFields(
      site,
      explain(site, createRequestFields({ target: '/assets/worker.js' }), 'spa'),
    )
    expect(fields.find(({ name }) => name === 'Cache-Control')).toMatchObject({
      value: 'no-cache',
      why: 'the script of a worker has a policy, which may be another one at the next start',
    })
  })
})

describe('csp', () => {
  test('uses report-only if configured, and omits directives that only work when enforced', async () => {
    const { port } = await serveWith({
      csp: { reportOnly: true, 'report-to': ['csp'], sandbox: [], 'upgrade-insecure-requests': [] },
      headers: { '**': { 'Content-Security-Policy': "default-src 'none'" } },
    })
    const response = await requestTwice(port, { target: '/about' })
    expect(response.field('Content-Security-Policy-Report-Only')).toBe(`${plain}; report-to csp`)
    expect(response.field('Content-Security-Policy')).toBe("default-src 'none'")
  })

  test('is removed from the files of a rule that sets null', async () => {
    const { port } = await serveWith({
      csp: true,
      headers: { 'about.html': { 'content-security-policy': null } },
    })
    const response = await requestTwice(port, { target: '/about' })
    expect(response.field('Content-Security-Policy')).toBeUndefined()
  })

  test('merges the sources of the plugin and of the operator', async () => {
    const directory = await buildWith((manifest) => ({
      ...withHashes(manifest),
      policy: { 'script-src': ["'wasm-unsafe-eval'"] },
      serving: { csp: { 'connect-src': ["'self'"], 'img-src': ['https://img.example'] } },
    }))
    const rules = { csp: { 'connect-src': ['https://api.example'], 'img-src': null } }
    const { port } = await startServer(directory, { site: { rules } })
    const response = await requestTwice(port, { target: '/about' })
    expect(response.field('Content-Security-Policy')).toBe(
      plain
        .replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")
        .replace("img-src 'self' data:; ", '')
        .replace('; form-action', "; connect-src 'self' https://api.example; form-action"),
    )
  })

  test('is off if the source of highest priority disables it', async () => {
    const directory = await buildWith((manifest) => ({ ...withHashes(manifest), serving: { csp: true } }))
    const { port } = await startServer(directory, { site: { rules: { csp: false } } })
    expect((await requestTwice(port, { target: '/' })).field('Content-Security-Policy')).toBeUndefined()
  })

  test('follows the environment at a reload', async () => {
    const variables = { API_URL: { type: 'string', required: true } } as const
    const directory = await buildWith((manifest) => ({
      ...withHashes(manifest),
      environment: { path: 'serve-dist-env.js', prefix: '', variables },
    }))
    const environment: Record<string, string> = { API_URL: 'https://one.example/' }
    const rules = { csp: { 'connect-src': [{ env: 'API_URL' }] } }
    const server = await startServer(directory, { site: { rules, environment } })
    const policy = async (): Promise<string | undefined> =>
      (await requestTwice(server.port, { target: '/' })).field('Content-Security-Policy')
    expect(await policy()).toContain('connect-src https://one.example;')
    environment['API_URL'] = 'wss://two.example:8443/socket'
    await server.reload()
    expect(await policy()).toContain('connect-src wss://two.example:8443;')
    environment['API_URL'] = "https://a;script-src 'unsafe-inline'"
    expect(await server.reload()).toMatchObject({
      status: 'refused',
      problems: [expect.stringMatching(/^API_URL: its origin is a source of connect-src/)],
    })
    expect(await policy()).toContain('connect-src wss://two.example:8443;')
  })

  test('hashes the pages of a folder without a manifest', async () => {
    const directory = await writeFixture({ 'index.html': '<!doctype html><script>run()</script>' })
    const { port } = await startServer(directory, {
      site: { rules: { csp: true }, noManifest: true, onWarning: () => {} },
    })
    const digest = createHash('sha256').update('run()').digest('base64')
    const response = await requestTwice(port, { target: '/' })
    expect(response.field('Content-Security-Policy')).toContain(`script-src 'self' 'sha256-${digest}';`)
  })

  test('rejects a build that an earlier release described', async () => {
    const directory = await buildWith(({ policy: _policy, ...manifest }) => manifest)
    await expect(loadSite(directory, { rules: { csp: true } })).rejects.toThrow(
      `npx serve-dist compress ${directory} with this release`,
    )
  })

  test.each<[string, ServingRules, number, string]>([
    [
      'a head beyond the defaults of proxies',
      { csp: true },
      70,
      'csp: the response head of index.html has up to 4.',
    ],
    [
      'links together with a policy',
      { csp: true, headers: { '**': { 'X-Long': 'x'.repeat(1500) } } },
      50,
      'csp: the response head of index.html has up to 4.8 kB, including 2.9 kB for the policy',
    ],
    [
      'every script',
      { csp: { 'script-src': ["'unsafe-inline'"] } },
      0,
      "csp: 'unsafe-inline' in script-src lets",
    ],
    [
      'files that only a rule makes pages',
      { csp: true, headers: { 'assets/app.js': { 'content-type': 'text/html; charset=utf-8' } } },
      0,
      'csp: a rule sends assets/app.js as text/html, but the build did not read it as a page, so its hashes are unknown. Name it',
    ],
    [
      'an endpoint without its field',
      { csp: { 'report-to': ['csp'] } },
      0,
      'csp: report-to names an endpoint that',
    ],
    [
      'directives that browsers ignore',
      { csp: { reportOnly: true, sandbox: [], 'report-uri': ['/r'] } },
      0,
      'csp: sandbox omitted, because browsers ignore it',
    ],
  ])('warns of %s', async (_what, rules, count, message) => {
    const warnings: string[] = []
    const directory = await buildWith((manifest) => withManyHashes(manifest, count))
    await loadSite(directory, { rules, onWarning: (text) => warnings.push(text) })
    expect(warnings).toEqual([expect.stringContaining(message)])
  })

  test.each<[string, ServingRules, number]>([
    ['of 3 KB', { csp: true }, 50],
    [
      'that only reports, to an endpoint with its field',
      {
        csp: { reportOnly: true, 'report-to': ['csp'] },
        headers: { '**': { 'reporting-endpoints': 'csp="/csp"' } },
      },
      0,
    ],
    ['with styles of its scripts', { csp: { 'style-src': ["'unsafe-inline'"] } }, 0],
  ])('does not warn of a policy %s', async (_what, rules, count) => {
    const warnings: string[] = []
    const directory = await buildWith((manifest) => withManyHashes(manifest, count))
    await loadSite(directory, { rules, onWarning: (text) => warnings.push(text) })
    expect(warnings).toEqual([])
  })

  test('rejects pages whose policy is too large for clients', async () => {
    const directory = await buildWith((manifest) => withManyHashes(manifest, 320))
    await expect(loadSite(directory, { rules: { csp: true } })).rejects.toThrow(
      'index.html: its policy has 17.5 kB, above the 16.4 kB that clients accept. Fix: move inline scripts and styles into files, so that they need no hashes.',
    )
  })

  test.each([
    [
      'a rule of the plugin',
      { '**': { 'content-security-policy': 'default-src *' } },
      {},
      `the plugin's option serving.headers["**"]["content-security-policy"]: the rule csp sets this field. Move the directives into csp, or set csp: false.`,
    ],
    [
      'a line of _headers',
      {},
      { _headers: '/*\n  content-security-policy: default-src *' },
      `_headers, /*, Content-Security-Policy: the rule csp sets this field. Move the directives into csp, or set csp: false.`,
    ],
  ])('rejects %s for its field', async (_what, headers, more, message) => {
    const directory = await buildWith((manifest) => ({ ...withHashes(manifest), serving: { headers } }), {
      ...files,
      ...more,
    })
    await expect(loadSite(directory, { rules: { csp: true } })).rejects.toThrow(message)
  })

  test('contains the origin of an environment value', async () => {
    const variables = { API_URL: { type: 'string', required: true }, CDN: { type: 'string' } } as const
    const directory = await buildWith((manifest) => ({
      ...withHashes(manifest),
      environment: { path: 'serve-dist-env.js', prefix: 'POLICY_TEST_', variables },
    }))
    const rules = { csp: { 'connect-src': [{ env: 'API_URL' }], 'media-src': [{ env: 'CDN' }] } }
    process.env['POLICY_TEST_API_URL'] = 'https://user:secret@api.example:8443/v1?key=1'
    try {
      const site = await loadSite(directory, { rules })
      const policy = site.index?.overrides.get('content-security-policy')?.value
      expect(policy).toContain("connect-src https://api.example:8443; media-src 'none';")
      process.env['POLICY_TEST_API_URL'] = 'secret'
      await expect(loadSite(directory, { rules })).rejects.toMatchObject({
        code: 'SD_ENVIRONMENT_INVALID',
        message:
          'POLICY_TEST_API_URL: its origin is a source of connect-src: expected a URL that starts with https://, http://, wss:// or ws:// and a host name',
      })
      await expect(
        loadSite(directory, { rules: { csp: { 'img-src': [{ env: 'API_URI' }] } } }),
      ).rejects.toThrow(
        `csp["img-src"]: the plugin's option env does not list "API_URI". Did you mean "API_URL"?`,
      )
    } finally {
      delete process.env['POLICY_TEST_API_URL']
    }
  })
})
