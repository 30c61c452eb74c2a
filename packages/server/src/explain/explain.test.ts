import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Fallback } from '@serve-dist/manifest'
import { fakeBuild, fakeSite, offerOf } from '../../test/support/fake-site.ts'
import { createRequestFields } from '../../test/support/create-request-fields.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import { decide } from '../site/decide.ts'
import type { Answer, Site } from '../site/site.ts'
import { explain, type Explanation } from './explain.ts'
import { explainFields, removedFields } from './explain-fields.ts'
import { httpTopics } from './http-topic.ts'

const page = { mediaType: 'text/html; charset=utf-8' }
const files = {
  'index.html': { body: '<p>index</p>', variants: { br: 'i', gzip: 'in' }, ...page },
  'about.html': { body: '<p>about</p>', ...page },
  'guide/index.html': { body: '<p>guide</p>', variants: { zstd: 'g' }, ...page },
  'assets/app.js': {
    body: '0123456789',
    variants: { zstd: '012', br: '01', gzip: '0123' },
    mediaType: 'text/javascript; charset=utf-8',
    cache: 'immutable',
  },
  'assets/app.js.map': '{}',
  'Straße.txt': { body: 'street', variants: { br: 's' } },
  'empty.bin': '',
} as const
const earlier = 'the text of an earlier build'
const rules = {
  securityHeaders: true,
  cors: ['assets/**'],
  cacheControl: { '*.txt': 'max-age=60' },
  headers: {
    '**/*.js': { 'X-Of': 'script', Vary: 'Origin' },
    'about.html': { 'Cache-Control': 'no-store', 'Content-Type': null },
  },
  redirects: [
    { from: '/old/:name', to: '/about', status: 301 },
    { from: '/app/*', to: '/index.html', status: 200 },
    { from: '/data', to: '/empty.bin', status: 200 },
    { from: '/gone/*', to: '/about.html', status: 404 },
    { from: '/empty.bin', to: '/about.html', status: 404, force: true },
    { from: '/guide/', to: '/elsewhere', status: 302, force: true },
  ],
} as const
const sites: Readonly<Record<string, Site>> = {
  spa: fakeSite(files, { assetsDirectory: 'assets', rules: {} }),
  'with a 404 page and a base': fakeSite(
    { ...files, '404.html': { body: '<p>none</p>', variants: { br: 'n' }, ...page } },
    { base: '/ä/', appType: 'mpa', assetsDirectory: 'assets', prefer: 'smallest' },
  ),
  'with rules': fakeSite(files, { assetsDirectory: 'assets', rules }),
  'with a single page, and rules about assets': fakeSite(
    {
      ...files,
      '200.html': { body: '<p>single</p>', ...page },
      '404.html': { body: '<p>none</p>', ...page },
    },
    {
      assetsDirectory: 'assets',
      rules: {
        redirects: [
          { from: '/assets/:id', to: '/index.html', status: 200 },
          { from: '/*', to: '/about.html', status: 200 },
        ],
      },
    },
  ),
  'with a kept build': fakeSite(
    { ...files, 'assets/app.js': 'revalidated' },
    {
      assetsDirectory: 'assets',
      rules,
      kept: [fakeBuild({ ...files, 'assets/old.js': files['assets/app.js'] }, { buildId: 'a'.repeat(16) })],
    },
  ),
  'with deltas': fakeSite(
    {
      ...files,
      'assets/app.js': {
        ...files['assets/app.js'],
        body: '0123456789'.repeat(60),
        stem: 'assets/[hash].js',
        deltas: { [earlier]: { dcb: '0', dcz: '01' } },
      },
    },
    { assetsDirectory: 'assets', rules, hasDeltas: true },
  ),
  'with fixed times': fakeSite(files, { timesAreFixed: true, rules: { sourceMaps: 'deny' } }),
}

const orNothing = <Value>(...values: readonly Value[]): fc.Arbitrary<Value | undefined> =>
  fc.constantFrom(undefined, undefined, ...values)

function requests(site: Site): fc.Arbitrary<RequestFields> {
  const paths = [...site.table.keys()]
  const tags = [...site.files.values()].flatMap(({ representations }) =>
    representations.map(({ entityTag }) => entityTag),
  )
  const others = [
    '/old/x',
    '/app/y',
    '/app/y.js',
    '/data',
    '/gone/1',
    '/nothing',
    '/assets/none.js',
    '/%',
    '/a//b',
    '*',
  ]
  const alike = [
    '/ABOUT',
    '/assets/app.js.br',
    '/.env',
    '/Stra%C3%9Fe.txt?x',
    '/%61bout',
    `${site.base}nothing`,
  ]
  const tag = orNothing('*', '"x"', ...tags)
  const date = orNothing('Sat, 31 Jan 2026 12:00:00 GMT', 'Thu, 01 Jan 2026 12:00:00 GMT', 'never')
  return fc.record({
    method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'POST'),
    target: fc.constantFrom(...paths, ...others, ...alike),
    accept: orNothing('text/html', '*/*', 'text/html;q=0'),
    acceptEncoding: orNothing(
      'br',
      'dcz, br',
      'dcb, dcz;q=0, *;q=0',
      'zstd, br;q=0.5, gzip',
      '*',
      'identity;q=0',
      '*;q=0, br',
      '',
    ),
    ifMatch: tag,
    ifNoneMatch: tag,
    ifModifiedSince: date,
    ifUnmodifiedSince: date,
    ifRange: orNothing('Sat, 31 Jan 2026 12:00:00 GMT', ...tags),
    range: orNothing('bytes=0-1', 'bytes=-3', 'bytes=99-', 'lines=1', 'bytes=0-1,3-4'),
    secFetchMode: orNothing('navigate', 'cors'),
    availableDictionary: orNothing(offerOf(earlier), ':AA==:'),
    secFetchSite: orNothing('same-origin', 'cross-site'),
    origin: orNothing('https://other.example'),
  })
}

function valueOf({ fields }: Answer, name: string): string | undefined {
  const at = fields.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === name)
  return at === -1 ? undefined : fields[at + 1]
}

/** Returns what the explanation says about the representation that a client would see. */
function toldBy({ answer, representation, range }: Explanation): unknown {
  if (representation === undefined) return undefined
  const { coding, bytes, entityTag } = representation
  const size = range === undefined ? bytes.size : range.last + 1 - range.first
  return {
    ...(answer?.status !== 304 && { coding, length: String(size) }),
    ...(answer?.status !== 404 && { entityTag }),
  }
}

function sentBy(answer: Answer, { representation }: Explanation): unknown {
  if (representation === undefined) return undefined
  const coding = valueOf(answer, 'content-encoding') ?? 'identity'
  return {
    ...(answer.status !== 304 && { coding, length: valueOf(answer, 'content-length') }),
    ...(answer.status !== 404 && { entityTag: valueOf(answer, 'etag') }),
  }
}

const fallbacks = fc.constantFrom<(Fallback | undefined)[]>('spa', '404', 'none', undefined)

describe('explain', () => {
  test.each(Object.keys(sites))('returns the answer of decide for a site (%s)', (name) => {
    const site = sites[name] ?? fakeSite({})
    fc.assert(
      fc.property(requests(site), fallbacks, (request, fallback) => {
        const explanation = explain(site, request, fallback)
        const { answer, steps } = explanation
        expect(answer).toEqual(decide(site, request, fallback))
        expect(toldBy(explanation)).toEqual(answer && sentBy(answer, explanation))
        const fields = explainFields(site, explanation)
        expect(fields.flatMap((field) => [field.name, field.value])).toEqual(answer?.fields ?? [])
        expect(fields.every(({ why }) => why !== '')).toBe(true)
        const order = steps.map(({ step }) => step)
        expect(order).toEqual(order.toSorted((one, other) => one - other))
        expect(order[0]).toBe(2)
      }),
      { numRuns: 2000 },
    )
  })

  test('says which representation is sent and why the others are not', () => {
    const request = createRequestFields({
      target: '/assets/app.js',
      acceptEncoding: 'br, gzip;q=0.5, zstd;q=0',
    })
    const { steps } = explain(sites['spa'] ?? fakeSite({}), request, 'spa')
    expect(steps.map(({ step, text }) => `${step}. ${text}`)).toEqual([
      '2. /assets/app.js is the file assets/app.js of the build',
      '5. Accept-Encoding: br, gzip;q=0.5, zstd;q=0: br is wanted most',
    ])
    expect(steps[1]?.details).toEqual([
      'zstd, 3 bytes: not accepted (q=0)',
      'br, 2 bytes: chosen (q=1)',
      'gzip, 4 bytes: wanted less (q=0.5)',
      'identity, 10 bytes: wanted less (not named, acceptable)',
    ])
  })

  test.each<[string, Partial<RequestFields>, RegExp]>([
    ['has a delta', {}, /: the dcb delta, 1 bytes$/],
    ['is unknown', { availableDictionary: ':AA==:' }, /: there is no delta from this dictionary$/],
    ['is for another file', { target: '/about' }, /: the file has no deltas$/],
    ['is ignored for a range', { range: 'bytes=0-1' }, /: ignored, because the request has a Range$/],
    [
      'is ignored without a delta coding',
      { acceptEncoding: 'br, *' },
      /: ignored, because Accept-Encoding names neither dcb nor dcz$/,
    ],
    [
      'is ignored for another origin',
      { secFetchSite: 'cross-site', secFetchMode: 'no-cors' },
      /may not read the file$/,
    ],
  ])('says why a dictionary %s', (_what, given, expected) => {
    const fields = { acceptEncoding: 'br, dcb', availableDictionary: offerOf(earlier) }
    const request = createRequestFields({ target: '/assets/app.js', ...fields, ...given })
    const { steps } = explain(sites['with deltas'] ?? fakeSite({}), request, 'spa')
    expect(steps.map(({ text }) => text).find((text) => text.startsWith('Available-'))).toMatch(expected)
  })

  test.each<[string, Partial<RequestFields>, RegExp]>([
    ['/assets/app.js.br', {}, /a variant of assets\/app\.js: request that file with Accept-Encoding: br/],
    ['/ABOUT', { secFetchMode: 'cors' }, /is not \/about: names are exact/],
    ['/.env', {}, /has a hidden name/],
    ['/nothing.txt', {}, /the fallback is for navigations \(-H 'Sec-Fetch-Mode: navigate' sends one\)/],
    ['/assets/x', { secFetchMode: 'navigate' }, /no page answers for a file under \/assets\//],
    ['/a//b', {}, /an empty segment/],
  ])('says why %s is a 404', (target, fields, expected) => {
    const { steps, answer } = explain(
      sites['spa'] ?? fakeSite({}),
      createRequestFields({ target, ...fields }),
      'spa',
    )
    expect(answer).toBeUndefined()
    expect(steps.map(({ text }) => text).join('\n')).toMatch(expected)
  })

  test.each<[string, string]>([
    ['/old/x', 'the rule /old/:name /about 301: 301 to /about'],
    ['/guide/', 'the rule /guide/ /elsewhere 302!: 302 to /elsewhere'],
    ['/empty.bin', 'the rule /empty.bin /about.html 404! hides /empty.bin'],
    ['/data', 'the rule /data /empty.bin 200: empty.bin'],
    ['/app/y.js', 'the rule /app/* /index.html 200 is for navigations'],
    ['/app/y', 'the rule /app/* /index.html 200: index.html'],
  ])('names the rule for %s', (target, expected) => {
    const { steps } = explain(sites['with rules'] ?? fakeSite({}), createRequestFields({ target }), 'spa')
    expect(steps.map(({ text }) => text).join('\n')).toContain(expected)
  })

  test('names the rule that sets or removes a header', () => {
    const site = sites['with rules'] ?? fakeSite({})
    const whyOf = (target: string): Readonly<Record<string, string>> => {
      const fields = explainFields(site, explain(site, createRequestFields({ target }), 'spa'))
      return Object.fromEntries(fields.map(({ name, why }) => [name, why]))
    }
    expect(whyOf('/assets/app.js')).toMatchObject({
      'X-Of': 'the rule for **/*.js, of serve-dist.config, a flag or the plugin',
      Vary: 'the rule for **/*.js, of serve-dist.config, a flag or the plugin',
      'Access-Control-Allow-Origin': 'the rule for assets/**, of serve-dist.config, a flag or the plugin',
      'Referrer-Policy': 'securityHeaders, for all files',
      'Cache-Control': 'the build or a rule says that the name has a content hash',
      ETag: 'from the SHA-256 of these bytes',
    })
    expect(whyOf('/Stra%C3%9Fe.txt')['Cache-Control']).toMatch(/^the rule for \*\.txt/)
    expect(removedFields(site, explain(site, createRequestFields({ target: '/about' }), 'spa'))).toEqual([
      'Content-Type: the rule for about.html, of serve-dist.config, a flag or the plugin',
    ])
  })

  test.each<[number, Partial<RequestFields>]>([
    [405, { method: 'POST' }],
    [406, { acceptEncoding: 'identity;q=0, *;q=0' }],
    [416, { range: 'bytes=99-' }],
  ])('explains the Content-Type of a %i', (status, given) => {
    const site = sites['with rules'] ?? fakeSite({})
    const explanation = explain(site, createRequestFields({ target: '/assets/app.js', ...given }), 'spa')
    expect(explanation.answer?.status).toBe(status)
    const type = explainFields(site, explanation).find(({ name }) => name === 'Content-Type')
    expect(type?.why).toBe('the body is one line that names the status')
  })

  test('names no file and no removed header for a 405', () => {
    const site = sites['with rules'] ?? fakeSite({})
    const explanation = explain(site, createRequestFields({ target: '/about', method: 'POST' }), 'spa')
    expect([explanation.answer?.status, explanation.resource]).toEqual([405, undefined])
    expect(removedFields(site, explanation)).toEqual([])
  })

  test('uses the headings of docs/http.md', () => {
    const document = readFileSync(new URL('../../../../docs/http.md', import.meta.url), 'utf8')
    const headings = new Set(Array.from(document.matchAll(/^## (.+)$/gm), ([, heading]) => heading))
    expect(httpTopics.filter((topic) => !headings.has(topic))).toEqual([])
  })
})
