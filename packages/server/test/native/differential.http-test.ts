import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openStagedSite, type StagedSite } from '../../src/live/open-staged-site.ts'
import { resolveLiveSiteOptions } from '../../src/load/load-options.ts'
import { loadSite } from '../../src/load/load-site.ts'
import type { ServeOptions } from '../../src/serve/serve-options.ts'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { compareEngines } from '../support/native/compare-engines.ts'
import type { ScriptVocabulary } from '../support/native/random-script.ts'
import { vocabularyOf } from '../support/native/vocabulary-of.ts'
import { offerOf, publishDeltas } from '../support/publish-deltas.ts'
import { soakSites } from '../support/soak/soak-sites.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const seed = Number(process.env['SERVE_DIST_SEED'])
const requests = Number(process.env['SERVE_DIST_DIFFERENTIAL'] ?? 5000)

/** An application whose responses depend only on the octets of the request. */
const application = `
import { createHash } from 'node:crypto'
async function tell(request, response) {
  const hash = createHash('sha256')
  for await (const chunk of request) hash.update(chunk)
  const { method, url, rawHeaders, rawTrailers, socket } = request
  const body = hash.digest('hex')
  response.end(JSON.stringify({ method, url, rawHeaders, rawTrailers, body, peer: socket.remoteAddress }))
}
async function stream(response) {
  response.writeHead(200, { 'Content-Type': 'application/octet-stream' })
  for (let part = 0; part < 5; part += 1) {
    response.write('part ' + part)
    await new Promise((resolve) => setImmediate(resolve))
  }
  response.addTrailers({ 'X-Sum': '5' })
  response.end()
}
export default (request, response, next) => {
  if (request.url.startsWith('/api/stream')) return stream(response)
  if (request.url.startsWith('/api/early')) return response.writeHead(413).end('too much')
  if (request.url.startsWith('/api/large')) return response.end('large '.repeat(30_000))
  if (request.url.startsWith('/api/empty')) return response.writeHead(204, { 'x-CASE': 'kept' }).end()
  if (request.url.startsWith('/api/hints')) response.writeEarlyHints({ link: '</a.js>; rel=preload' })
  if (request.url.startsWith('/api')) return tell(request, response)
  next()
}
`
const paths = ['tell', 'stream', 'early', 'large', 'empty', 'hints'].map((name) => `/api/${name}`)

interface Pair {
  readonly options: (folder: string) => ServeOptions
  /** The share of all requests. */
  readonly share: number
  readonly more?: Partial<ScriptVocabulary>
  readonly deploy?: () => Promise<unknown>
}

const folders: Record<string, string> = {}
let store = ''
const storeFiles = (build: number): Record<string, string> => ({
  'index.html': `page ${build}`,
  'about.html': compressibleText(3000, `about ${build}`),
  [`assets/a-${build}.js`]: `/*${compressibleText(4000, String(build))}*/`,
  [`assets/font-${build}.woff2`]: 'font'.repeat(500),
  'late.txt': `late ${build}`,
})
const scriptOf = (build: number): string => storeFiles(build)[`assets/a-${build}.js`] ?? ''

beforeAll(async () => {
  for (const [name, { files, options }] of Object.entries(soakSites)) {
    folders[name] = await buildFixture(files, options)
  }
  folders['application'] = await writeFixture({ 'entry.mjs': application })
  store = join(await temporaryDirectory(), 'store')
  await publishDeltas(store, storeFiles(1))
})

const pairs: Readonly<Record<string, Pair>> = {
  'an application of one page': { share: 0.15, options: () => ({ directory: folders['spa'] ?? '' }) },
  'credentials for all but some files, loaded again': {
    share: 0.1,
    options: () => ({
      directory: folders['spa'] ?? '',
      site: {
        rules: { basicAuth: { env: 'SITE_PASSWORD', except: ['*.txt'] } },
        environment: { SITE_PASSWORD: 'a:b' },
      },
    }),
    more: { authorizations: ['Basic YTpi', 'Basic YTpi', 'Basic YTpi', 'basic YTpi', 'Basic YTpj'] },
    deploy: async () => {},
  },
  'rules, redirects and early hints': {
    share: 0.2,
    options: () => ({ directory: folders['spa with rules'] ?? '' }),
    more: { targets: ['/', '/old/a', '/posts/1.html', '/2026/01/list', '/gone/a', '/empty/a', '/any'] },
  },
  'pages below a base, large ones streamed, some hosts': {
    share: 0.15,
    options: () => ({
      directory: folders['mpa'] ?? '',
      site: { largestBody: 3000 },
      allowHosts: ['example.org', 'a', '127.0.0.1'],
    }),
  },
  'a page for a 404, large files streamed, answers counted, loaded again': {
    share: 0.1,
    options: () => ({
      directory: folders['spa with 404.html'] ?? '',
      site: { largestBody: 3000 },
      operations: { ops: { host: '127.0.0.1', port: 0 } },
    }),
    deploy: async () => {},
  },
  'a store with kept files and deltas, swapped': {
    share: 0.2,
    options: (storeCache) => ({ store, storeCache, storeInterval: 3600 }),
    more: { dictionaries: [offerOf(scriptOf(1)), offerOf('x'), 'x'] },
    deploy: () => publishDeltas(store, storeFiles(2), { 'assets/a-2.js': [scriptOf(1)] }),
  },
  'an application behind the build': {
    share: 0.1,
    options: () => ({
      directory: folders['spa'] ?? '',
      ssr: join(folders['application'] ?? '', 'entry.mjs'),
    }),
    more: { targets: ['/', ...paths], hasApplication: true },
  },
}

/**
 * Counts requests that Node answers: of the Node engine's server, which listens, and of relayed connections.
 */
const seen = { listening: 0, handed: 0 }
function count(message: unknown): void {
  const server: unknown = Reflect.get(Object(message), 'server')
  seen[Reflect.get(Object(server), 'listening') === true ? 'listening' : 'handed'] += 1
}
beforeAll(() => subscribe('http.server.request.start', count))
afterAll(() => {
  unsubscribe('http.server.request.start', count)
})

async function startBoth({ options }: Pair): Promise<readonly [StartedServer, StartedServer]> {
  const start = async (engine: 'node' | 'native'): Promise<StartedServer> =>
    await startServer(undefined, { engine, ...options(await temporaryDirectory()) })
  return [await start('node'), await start('native')]
}

/** Opens the builds once more, because a server does not expose their files. */
async function openBuilds({ options }: Pair): Promise<StagedSite> {
  const { directory, store: from = '', storeCache = '', site = {} } = options(await temporaryDirectory())
  const place = typeof directory === 'string' ? directory : { store: from, storeCache }
  const builds = await openStagedSite(place, resolveLiveSiteOptions(site))
  onTestFinished(() => builds.close())
  return builds
}

describe(`random octets (SERVE_DIST_SEED=${seed})`, () => {
  test.each(Object.entries(pairs))(
    'get the same answers from both engines: %s',
    async (name, pair) => {
      const [node, native] = await startBoth(pair)
      const builds = await openBuilds(pair)
      const compare = async (part: number): Promise<number> =>
        await compareEngines(
          { node: node.port, native: native.port },
          {
            seed: seed + part,
            requests: Math.ceil((requests * pair.share) / (pair.deploy === undefined ? 1 : 2)),
            vocabulary: vocabularyOf(builds.current, pair.more),
          },
        )
      const before = { ...seen }
      const started = performance.now()
      let sent = await compare(0)
      if (pair.deploy !== undefined) {
        await pair.deploy()
        await Promise.all([node.reload(), native.reload(), builds.reload()])
        sent += await compare(1)
      }
      expect(native.site.buildId).toBe(node.site.buildId)
      const [listening, handed] = [seen.listening - before.listening, seen.handed - before.handed]
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      console.log(
        `${name}: ${sent} requests sent, ${listening} read, ${handed} of them handed over; ${seconds} s`,
      )
    },
    Math.max(60_000, requests * 5),
  )
})

test('a comparison finds a planted difference, and reduces its request to the minimum', async () => {
  const directory = folders['spa'] ?? ''
  const planted = { rules: { headers: { 'small.txt': { 'X-Planted': 'yes' } } } }
  const [one, other] = [await startServer(directory), await startServer(directory, { site: planted })]
  const vocabulary = vocabularyOf(await loadSite(directory))
  const comparison = compareEngines(
    { node: one.port, native: other.port },
    { seed, requests: 2000, vocabulary },
  )
  const { message } = await comparison.then(
    () => new Error('nothing was found'),
    (error: Error) => error,
  )
  expect(message).toContain('X-Planted: yes')
  // The minimum has at most two fields: a request needs a host, and without an end the test waits long.
  expect(message.match(/[A-Z]+ \S+ HTTP.*/g)?.at(-1)).toMatch(
    /^[A-Z]+ \/\S+ HTTP\/1\.[01](?:\\r\\n[^\\]+){0,2}\\r\\n\\r\\n" \+ "" cut at \[\]/,
  )
})
