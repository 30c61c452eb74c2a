import { once } from 'node:events'
import { Agent, createServer, get as request, type IncomingMessage } from 'node:http'
import { type ClientHttp2Session, connect, createServer as createHttp2Server } from 'node:http2'
import { type Manifest, OperatorError, parseManifest } from '@serve-dist/manifest'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFetchHandler } from '../../src/hosts/fetch.ts'
import { createHandler } from '../../src/hosts/handler.ts'
import { buildSite } from '../../src/site/build-site.ts'
import { parseHeadersFile } from '../../src/site/parse-headers-file.ts'
import { parseRedirectsFile } from '../../src/site/parse-redirects-file.ts'
import { resolveFieldVariables } from '../../src/rules/resolve-field-variables.ts'
import { resolveServing } from '../../src/site/resolve-serving.ts'
import type { ManifestEntry, Site, StoredBytes } from '../../src/site/site.ts'
import { fakeSite } from '../support/fake-site.ts'

const time = '2026-01-31T12:00:00Z'
const file = {
  size: 3,
  sha256: 'a'.repeat(64),
  cache: 'revalidate',
  lastModified: time,
  variants: [{ coding: 'br', size: 2, sha256: 'b'.repeat(64) }],
}
const whole = {
  version: 1,
  buildId: 'c'.repeat(32),
  base: '/app/',
  appType: 'spa',
  assetsDirectory: 'assets',
  lastModified: time,
  serving: {
    fallback: 'spa',
    immutable: ['assets/*'],
    cors: ['assets/**'],
    cacheControl: { '**': 'max-age=60' },
    headers: { '**': { 'X-From': 'manifest', 'Content-Disposition': 'inline' } },
    redirects: [
      { from: '/old/:name', to: '/new/:name?was=:name#:name', status: 301 },
      { from: '/page/*', to: '/app/index.html', status: 200 },
    ],
  },
  selection: { include: ['**'], exclude: ['drafts/**'] },
  files: [
    { path: 'a.txt', mediaType: 'text/plain; charset="utf-8"', ...file },
    { path: 'assets/a-1.js', stem: 'assets/a-[hash].js', mediaType: 'text/javascript', ...file },
    {
      path: 'index.html',
      mediaType: 'text/html; charset=utf-8',
      ...file,
      links: [
        { path: 'assets/a-1.js', rel: 'modulepreload', inDocument: false },
        { path: 'a.txt', rel: 'preload', as: 'style', crossorigin: true, inDocument: true },
      ],
    },
  ],
}

/** Returns the path of every string in a document. A path that ends in `''` is that of a key. */
function pathsToStrings(value: unknown): string[][] {
  if (typeof value === 'string') return [[]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, child]) =>
    [...pathsToStrings(child), ['']].map((way) => [key].concat(way)),
  )
}

/** Replaces the string at one path. A path that ends in `''` renames the key before it. */
function replaceString(value: unknown, way: readonly string[], text: string): unknown {
  const [key, ...rest] = way
  if (key === undefined) return text
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value
    return items.map((child, index) =>
      String(index) === key && rest[0] !== '' ? replaceString(child, rest, text) : child,
    )
  }
  return Object.fromEntries(
    Object.entries(Object(value)).map(([name, child]) =>
      name !== key
        ? [name, child]
        : rest[0] === ''
          ? [text, child]
          : [name, replaceString(child, rest, text)],
    ),
  )
}

const ways = pathsToStrings(whole)
/** Strings to try at every path: invalid in a field, or similar to other syntax. */
const worstTexts = ['text/plain; x="\u0100"', '/\uD800', 'a\r\nb: c', '__proto__', 'Connection', '*a*b*c*d']
const begun = fc.constantFrom(
  '',
  'text/plain; x="',
  '/',
  '/:',
  '/:id/*',
  '/x?',
  'https://',
  'a.',
  '**/',
  'max-age=',
  'X-',
)
const ended = fc.constantFrom(
  '',
  '"',
  '/',
  '*',
  ':name',
  '\r\nX-Evil: 1',
  ' ',
  '\u0100',
  '\u00FC',
  '\uD800',
  '\u007F',
)
const names = fc.constantFrom(
  '__proto__',
  'constructor',
  'Connection',
  'HTTP2-Settings',
  'TE',
  'Proxy-Connection',
  'Vary',
  ':status',
  'Set-Cookie',
  'Trailer',
  'Host',
  'Expect',
  'Keep-Alive',
)
const texts = fc.oneof(
  names,
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.tuple(begun, fc.string({ unit: 'grapheme' }), ended).map((parts) => parts.join('')),
  fc.tuple(begun, ended).map((parts) => parts.join('')),
)

/** Resolves the site of a manifest whose files are all in memory. */
function siteOf(manifest: Manifest, more?: Parameters<typeof resolveServing>[0]): Site {
  const body = Buffer.from('abc')
  const stored = new Map<ManifestEntry, StoredBytes>()
  for (const entry of manifest.files) {
    for (const each of [entry, ...entry.variants]) stored.set(each, { size: body.length, body })
  }
  const sources = more ?? {
    directory: '/build',
    headersFile: [],
    redirectsFile: [],
    rules: resolveFieldVariables([manifest.serving ?? {}], () => undefined).rules,
  }
  return buildSite({ manifest, stored }, resolveServing(sources)).site
}

const holder = { current: fakeSite({}) }
const answer = createHandler(holder)
const overHttp1 = createServer((asked, response) => answer(asked, response))
// Node's HTTP/2 compatibility API has the same behaviour, but no common type.
const overHttp2 = createHttp2Server()
overHttp2.on('request', (asked, response) => {
  Reflect.apply(answer, undefined, [asked, response])
})
const overFetch = createFetchHandler(holder, { fallback: 'spa' })
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let port = 0
let session: ClientHttp2Session

function portOf(server: { address(): unknown }): number {
  return Number(Reflect.get(Object(server.address()), 'port'))
}

beforeAll(async () => {
  await Promise.all(
    [overHttp1, overHttp2].map(async (server) => await once(server.listen(0, '127.0.0.1'), 'listening')),
  )
  port = portOf(overHttp1)
  session = connect(`http://127.0.0.1:${portOf(overHttp2)}`)
})
afterAll(() => {
  agent.destroy()
  session.destroy()
  overHttp1.close()
  overHttp2.close()
})

async function statusOverHttp1(
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  const asked = request({ host: '127.0.0.1', port, path, headers, agent })
  const [response]: IncomingMessage[] = await once(asked, 'response')
  await once(response?.resume() ?? asked, 'end')
  return response?.statusCode
}

async function statusOverHttp2(path: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const stream = session.request({ ':path': path, ...headers })
  const [fields] = await once(stream, 'response')
  await once(stream.resume(), 'close')
  return Number(fields[':status'])
}

const requests: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'accept-encoding': 'br', 'sec-fetch-mode': 'navigate' },
  { 'if-none-match': '*' },
  { range: 'bytes=0-0' },
]

/** Returns the highest status of all known and some unknown paths. An exception or a reset fails the test. */
async function findHighestStatus(site: Site): Promise<number> {
  let worst = 0
  holder.current = site
  const paths = [...site.table.keys()].slice(0, 12)
  for (const path of [...paths, `${site.base}none`, '/old/%C3%BC&x=1', '/page/x', '/none']) {
    for (const headers of requests) {
      const statuses = [
        await statusOverHttp1(path, headers),
        await statusOverHttp2(path, headers),
        (await overFetch(new Request(`http://a.example${path}`, { headers })))?.status ?? 404,
      ]
      worst = Math.max(worst, ...statuses.map(Number))
    }
  }
  return worst
}

/** Returns `undefined` for a rejected document. Any other error fails the test. */
function readOrRefuse(document: string): Manifest | undefined {
  try {
    return parseManifest(document)
  } catch (error) {
    if (error instanceof OperatorError) return undefined
    throw error
  }
}

describe('a manifest', () => {
  test('without changes answers every request', async () => {
    expect(await findHighestStatus(siteOf(parseManifest(JSON.stringify(whole))))).toBeLessThan(500)
  })

  test('with any text at any path is rejected when it is read, or answers every request', async () => {
    let taken = 0
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ways), texts, async (way, text) => {
        const document = JSON.stringify(replaceString(whole, way, text))
        const manifest = readOrRefuse(document)
        if (manifest === undefined) return
        taken += 1
        expect(await findHighestStatus(siteOf(manifest))).toBeLessThan(500)
      }),
      {
        numRuns: 700,
        examples: ways.flatMap((way) => worstTexts.map((text): [typeof way, string] => [way, text])),
      },
    )
    expect(taken).toBeGreaterThan(40)
  })

  test.each(['text/plain; x="\u0100"', 'text/plain; x="\u00FC"'])(
    'with the media type %s is rejected with the path of the value',
    (mediaType) => {
      const document = JSON.stringify(replaceString(whole, ['files', '0', 'mediaType'], mediaType))
      expect(() => parseManifest(document)).toThrow(
        /^\$\.files\[0\]\.mediaType: expected a media type .* ASCII/,
      )
    },
  )
})

describe('_headers and _redirects', () => {
  test('with any text answer every request', async () => {
    const manifest = parseManifest(JSON.stringify(whole))
    const name = fc.oneof(names, fc.string({ unit: fc.constantFrom('X', '-', 'a', ' ', 'ü') }))
    const headers = fc
      .array(fc.tuple(name, texts))
      .map((fields) => `/*\n${fields.map(([field, value]) => `  ${field}: ${value}\n`).join('')}`)
    const redirects = fc
      .array(fc.tuple(texts, texts))
      .map((rules) => rules.map(([from, to]) => `/old/${from} /${to}\n`).join(''))
    await fc.assert(
      fc.asyncProperty(headers, redirects, async (headersText, redirectsText) => {
        const headersFile = parseHeadersFile(headersText).rules
        const redirectsFile = parseRedirectsFile(redirectsText).rules
        expect(
          await findHighestStatus(
            siteOf(manifest, { directory: '/build', headersFile, redirectsFile, rules: [] }),
          ),
        ).toBeLessThan(500)
      }),
      { numRuns: 60 },
    )
  })
})
