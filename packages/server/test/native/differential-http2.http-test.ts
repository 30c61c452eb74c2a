import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2'
import { loadEngine } from '@serve-dist/engine'
import { describe, expect, test } from 'vitest'
import { loadSite } from '../../src/load/load-site.ts'
import type { ServeOptions } from '../../src/serve/serve-options.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { randomHttp2Request } from '../support/native/random-http2-request.ts'
import { vocabularyOf } from '../support/native/vocabulary-of.ts'
import { createRandom } from '../support/soak/soak-random.ts'
import { soakSites } from '../support/soak/soak-sites.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

const seed = Number(process.env['SERVE_DIST_SEED'])
const requests = Number(process.env['SERVE_DIST_DIFFERENTIAL'] ?? 2000)
/** The number of concurrent streams, and of requests, on each connection. */
const [streams, requestsOfSession] = [20, 200]

type SiteOptions = NonNullable<ServeOptions['site']>
const pairs: Readonly<Record<string, { readonly site: string; readonly options: SiteOptions }>> = {
  'an application of one page': { site: 'spa', options: {} },
  'rules, redirects and early hints': { site: 'spa with rules', options: { rules: { earlyHints: false } } },
  'pages below a base, large ones streamed': { site: 'mpa', options: { largestBody: 3000 } },
}

type Servers = readonly [StartedServer, StartedServer]

async function startBoth(site: string, options: readonly [SiteOptions, SiteOptions]): Promise<Servers> {
  const { files, options: precompress } = soakSites[site] ?? { files: {} }
  const directory = await buildFixture(files, precompress)
  const tls = await writeCertificate()
  const [ofNode, ofNative] = options
  return [
    await startServer(directory, { engine: 'node', tls, site: ofNode }),
    await startServer(directory, { engine: 'native', tls, site: ofNative }),
  ]
}

describe.skipIf(typeof loadEngine() === 'string')(
  `random fields over HTTP/2 (SERVE_DIST_SEED=${seed})`,
  () => {
    test.each(Object.entries(pairs))(
      'get the same answers from both engines: %s',
      async (_name, { site, options }) => {
        const servers = await startBoth(site, [options, options])
        expect(await findDifference(servers, Math.ceil(requests / 3))).toBeUndefined()
      },
      Math.max(60_000, requests * 10),
    )

    test('a comparison finds a planted difference', async () => {
      const planted = { rules: { headers: { 'small.txt': { 'X-Planted': 'yes' } } } }
      const servers = await startBoth('spa', [{}, planted])
      expect(await findDifference(servers, 2000)).toMatchObject({
        asked: { ':path': expect.stringMatching(/^\/small\.txt/) },
        answers: [expect.not.stringContaining('x-planted'), expect.stringContaining('x-planted yes')],
      })
    })
  },
)

interface Difference {
  readonly asked: OutgoingHttpHeaders
  readonly answers: readonly string[]
}

/** Sends the same random requests to several servers. Returns the first that they answer differently. */
async function findDifference(servers: Servers, count: number): Promise<Difference | undefined> {
  const vocabulary = vocabularyOf(await loadSite(servers[0].site.directory))
  const random = createRandom(seed)
  for (let sent = 0; sent < count;) {
    const sessions = servers.map(({ port }) =>
      connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false }),
    )
    try {
      for (let ofSession = 0; ofSession < requestsOfSession; ofSession += streams, sent += streams) {
        const asked = Array.from({ length: streams }, () => randomHttp2Request(random, vocabulary))
        const differences = await Promise.all(asked.map((fields) => compare(sessions, fields)))
        const first = differences.find((difference) => difference !== undefined)
        if (first !== undefined) return first
      }
    } finally {
      for (const session of sessions) session.destroy()
    }
  }
  return undefined
}

async function compare(
  sessions: readonly ClientHttp2Session[],
  asked: OutgoingHttpHeaders,
): Promise<Difference | undefined> {
  const answers = await Promise.all(sessions.map((session) => ask(session, asked)))
  return new Set(answers).size > 1 ? { asked, answers } : undefined
}

/** Returns everything that a client can observe of a response, except for its date. */
async function ask(session: ClientHttp2Session, fields: OutgoingHttpHeaders): Promise<string> {
  const stream = session.request(fields, { endStream: true })
  const heads: string[] = []
  const body: Buffer[] = []
  const note = (_fields: unknown, _flags: number, raw: readonly string[]): void => {
    heads.push(raw.join(' ').replace(/(?<=date )\w{3}, .{20} GMT/, '(now)'))
  }
  stream.on('headers', note).on('response', note).on('trailers', note)
  stream.on('data', (chunk: Buffer) => body.push(chunk))
  // The error code is part of the result.
  stream.on('error', () => {})
  await new Promise((resolve) => stream.once('close', resolve))
  return [...heads, Buffer.concat(body).toString('latin1'), `code ${stream.rstCode}`].join('\n')
}
