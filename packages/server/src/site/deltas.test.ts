import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RequestFields } from '../protocol/request-fields.ts'
import {
  fakeBuild,
  type FakeFile,
  type FakeFiles,
  fakeSite,
  type FakeSiteOptions,
  offerOf,
  resourceAt,
} from '../../test/support/fake-site.ts'
import { createRequestFields } from '../../test/support/create-request-fields.ts'
import { decide } from './decide.ts'
import { entityTagOf } from '../protocol/entity-tag.ts'
import type { Answer, Site } from './site.ts'
import { hash } from 'node:crypto'

const [old, older, oldest] = ['old', 'older', 'oldest']
const body = '0123456789'.repeat(60)
const script = {
  body,
  stem: 'assets/a-[hash].js',
  mediaType: 'text/javascript; charset=utf-8',
  cache: 'immutable',
  variants: { br: 'b'.repeat(60), gzip: 'g'.repeat(70) },
} as const
const deltas: NonNullable<FakeFile['deltas']> = {
  [old]: { dcz: 'z'.repeat(20), dcb: 'y'.repeat(10) },
  [older]: { dcz: 'x'.repeat(20) },
  // Larger than the brotli variant, but smaller than the file.
  [oldest]: { dcz: 'w'.repeat(65) },
}
const files: FakeFiles = {
  'index.html': 'page',
  'assets/a-2.js': { ...script, deltas },
  'assets/alone-1.js': { ...script, body: `${body}alone`, stem: 'assets/alone-[hash].js', variants: {} },
  'assets/s-1.css': { ...script, body: `${body}css`, stem: 'assets/(s) [hash].css', mediaType: 'text/css' },
  'assets/data-1.json': {
    ...script,
    body: `${body}json`,
    stem: 'assets/data-[hash].json',
    mediaType: 'application/json',
  },
  'assets/w-1.js': { ...script, body: `${body}worker`, stem: 'assets/w-[hash].js', worker: true },
}
const target = '/assets/a-2.js'
const offer = offerOf(old)
const lastModified = 'Sat, 31 Jan 2026 12:00:00 GMT'
const bothFields = 'Accept-Encoding, Available-Dictionary'

const cors = { cors: ['assets/**'] }
const forOne = { headers: { 'assets/**': { 'Access-Control-Allow-Origin': 'https://one.example' } } }

function siteWith(options: FakeSiteOptions = {}): Site {
  return fakeSite(files, { hasDeltas: true, assetsDirectory: 'assets', ...options })
}

function ask(site: Site, given: Partial<RequestFields>): Answer | undefined {
  return decide(site, createRequestFields({ target, acceptEncoding: 'br, dcb, dcz', ...given }), 'none')
}

function fieldsOf(answer: Answer | undefined): Record<string, string> {
  const fields = answer?.fields ?? []
  return Object.fromEntries(
    fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : [])),
  )
}

function deltaOf(site: Site): Record<string, string> {
  return fieldsOf(ask(site, { availableDictionary: offer }))
}

function shown(answer: Answer | undefined): readonly unknown[] {
  const { 'Content-Encoding': coding = 'identity', Vary: vary } = fieldsOf(answer)
  return [answer?.status, coding, vary]
}

/** Models RFC 9842 independently of the server: the text of the delta to send, if any. */
function modelled(
  request: RequestFields,
  allowed: string | undefined,
): { coding: string; text: string } | undefined {
  const {
    method,
    range,
    availableDictionary,
    acceptEncoding = '',
    secFetchSite,
    secFetchMode,
    origin,
  } = request
  if ((method !== 'GET' && method !== 'HEAD') || range !== undefined) return undefined
  const isReadable =
    secFetchSite === undefined ||
    secFetchSite === 'same-origin' ||
    secFetchMode === undefined ||
    ['navigate', 'same-origin'].includes(secFetchMode) ||
    (secFetchMode === 'cors' && origin !== undefined && (allowed === '*' || allowed === origin))
  if (!isReadable) return undefined
  const weights: Record<string, number> = {}
  for (const member of acceptEncoding.toLowerCase().split(', ')) {
    const [coding = '', q = 'q=1'] = member.split(';')
    weights[coding] = Number(q.slice(2))
  }
  const other = weights['*'] ?? 0
  const brotli = weights['br'] ?? other
  const gzip = weights['gzip'] ?? other
  const identity = weights['identity'] ?? weights['*'] ?? 0.00001
  const best = Math.max(brotli, gzip, identity)
  const plainBytes = best === 0 ? Infinity : brotli === best ? 60 : gzip === best ? 70 : 400
  const found = [old, older, oldest].find((dictionary) => offerOf(dictionary) === availableDictionary)
  const [first] = Object.entries(deltas[found ?? ''] ?? {})
    .map(([coding, text]) => ({ coding, text, weight: weights[coding] ?? 0 }))
    .filter(({ weight }) => weight > 0)
    .toSorted((one, two) => two.weight - one.weight || one.text.length - two.text.length)
  return first !== undefined && first.text.length < plainBytes ? first : undefined
}

function statusOf(request: RequestFields, tag: string): number {
  const { ifMatch, ifNoneMatch, ifModifiedSince } = request
  if (ifMatch !== undefined && ifMatch !== '*' && ifMatch !== tag) return 412
  if (ifNoneMatch !== undefined) return ifNoneMatch === '*' || ifNoneMatch === tag ? 304 : 200
  return ifModifiedSince === lastModified ? 304 : 200
}

function tagOf(text: string): string {
  return entityTagOf(hash('sha256', text))
}

function orNothing(...texts: readonly string[]): fc.Arbitrary<string | undefined> {
  return fc.constantFrom(...Array.from({ length: 3 * texts.length }, () => undefined), ...texts)
}

/** Returns the parts of an answer that a delta changes. */
function seen(answer: Answer | undefined): unknown {
  const fields = fieldsOf(answer)
  return {
    status: answer?.status,
    coding: fields['Content-Encoding'],
    tag: fields['ETag'],
    kept: fields['Cache-Control'],
    vary: fields['Vary'],
    ranges: fields['Accept-Ranges'],
    isMarked: fields['Use-As-Dictionary'] !== undefined,
    body: answer?.content.kind === 'memory' ? Buffer.from(answer.content.bytes).toString() : undefined,
  }
}

function expectedOf(request: RequestFields, { coding, text }: { coding: string; text: string }): unknown {
  const tag = tagOf(text)
  const status = statusOf(request, tag)
  const isKept = status !== 412
  const bodies: Record<number, string> = { 200: text, 412: '412 Precondition Failed\n' }
  return {
    status,
    coding: status === 200 ? coding : undefined,
    tag: isKept ? tag : undefined,
    kept: isKept ? 'private, max-age=31536000, immutable' : 'no-store',
    vary: bothFields,
    ranges: undefined,
    isMarked: isKept,
    body: bodies[status],
  }
}

/** Returns an answer without the fields that only dictionaries add. */
function withoutMarks(answer: Answer | undefined): unknown {
  const { Vary: _vary, 'Use-As-Dictionary': _mark, ...fields } = fieldsOf(answer)
  return { ...answer, fields }
}

describe('decide, of a build with deltas', () => {
  const resource = resourceAt(siteWith(), target)
  const tags = [resource.identity.entityTag, ...['b'.repeat(60), 'z'.repeat(20), 'y'.repeat(10)].map(tagOf)]
  const codings = ['br', 'gzip', 'dcz', 'dcz', 'dcb', 'dcb', 'DCZ', 'identity', '*', 'dcx']
  const requests = fc.record<RequestFields>({
    method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'POST', 'OPTIONS'),
    target: fc.constantFrom(target, target, target, '/assets/alone-1.js', '/', '/assets/none.js'),
    accept: fc.constant(undefined),
    acceptEncoding: fc.oneof(
      fc.constantFrom(undefined, 'br, dcb, dcz', 'gzip, dcz, br;q=0.9', 'dcb, *;q=0'),
      fc
        .uniqueArray(
          fc.tuple(fc.constantFrom(...codings), fc.constantFrom('', '', ';q=0', ';q=0.5', ';q=1')),
          {
            selector: ([coding]) => coding.toLowerCase(),
          },
        )
        .map((members) => members.map((member) => member.join('')).join(', ')),
    ),
    ifMatch: orNothing('*', '"x"', ...tags),
    ifModifiedSince: orNothing(lastModified, 'Thu, 01 Jan 2026 12:00:00 GMT', 'never'),
    ifNoneMatch: orNothing('*', '"x"', ...tags),
    ifRange: orNothing(lastModified, ...tags),
    ifUnmodifiedSince: fc.constant(undefined),
    range: orNothing('bytes=0-9', 'bytes=999-', 'lines=1-2'),
    secFetchMode: orNothing('cors', 'no-cors', 'navigate', 'same-origin'),
    secFetchSite: orNothing('same-origin', 'same-site', 'cross-site', 'none', 'same-origin, same-origin'),
    origin: orNothing('https://one.example', 'https://two.example', 'null'),
    availableDictionary: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(offer, offerOf(older), offerOf(oldest)) },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          undefined,
          offerOf('foreign'),
          offerOf(body),
          `${offer}, ${offer}`,
          `${offer};a`,
          offer.slice(1, -1),
          offer.slice(0, -2),
          offer.toLowerCase(),
          offer.replaceAll(':', '"'),
          '::',
          '',
        ),
      },
      { weight: 1, arbitrary: fc.string() },
    ),
  })

  test('sends deltas only to eligible clients and leaves all other answers unchanged', () => {
    const sites = [
      { options: {}, allowed: undefined },
      { options: { rules: cors }, allowed: '*' },
      { options: { rules: forOne }, allowed: 'https://one.example' },
    ].map(({ options, allowed }) => ({
      allowed,
      site: siteWith(options),
      without: siteWith({ ...options, hasDeltas: false }),
    }))
    let sent = 0
    fc.assert(
      fc.property(fc.constantFrom(...sites), requests, ({ allowed, site, without }, request) => {
        const answer = decide(site, request, 'spa')
        const plain = decide(without, request, 'spa')
        const delta = request.target === target ? modelled(request, allowed) : undefined
        sent += delta === undefined ? 0 : 1
        const isFile = request.target === target && ['GET', 'HEAD'].includes(request.method)
        const vary = fieldsOf(answer)['Vary']
        expect(isFile ? vary : bothFields).toBe(bothFields)
        expect(delta === undefined ? withoutMarks(answer) : seen(answer)).toEqual(
          delta === undefined ? withoutMarks(plain) : expectedOf(request, delta),
        )
      }),
      { numRuns: 4000 },
    )
    expect(sent).toBeGreaterThan(100)
  })

  test.each<[string, Partial<RequestFields>, readonly unknown[]]>([
    ['a client that offers the dictionary', {}, [200, 'dcb', bothFields]],
    ['a client that accepts one delta coding', { acceptEncoding: 'br, dcz' }, [200, 'dcz', bothFields]],
    ['a client that refuses all other codings', { acceptEncoding: 'dcz, *;q=0' }, [200, 'dcz', bothFields]],
    ['a client that accepts any coding', { acceptEncoding: '*' }, [200, 'br', bothFields]],
    [
      'a client that refuses delta codings',
      { acceptEncoding: 'br, dcz;q=0, dcb;q=0' },
      [200, 'br', bothFields],
    ],
    ['a range request', { range: 'bytes=0-9' }, [206, 'identity', bothFields]],
    ['a client with another dictionary', { availableDictionary: offerOf('x') }, [200, 'br', bothFields]],
    [
      'a client with two dictionaries',
      { availableDictionary: `${offer}, ${offer}` },
      [200, 'br', bothFields],
    ],
    [
      'a page of another origin',
      { secFetchSite: 'cross-site', secFetchMode: 'no-cors' },
      [200, 'br', bothFields],
    ],
    [
      'a request for a file that is new in this build',
      { target: '/assets/alone-1.js' },
      [200, 'identity', bothFields],
    ],
    ['a client that accepts no coding', { acceptEncoding: '*;q=0' }, [406, 'identity', bothFields]],
    ['a page', { target: '/' }, [200, 'identity', undefined]],
  ])('answers %s', (_what, given, expected) => {
    expect(shown(ask(siteWith(), { availableDictionary: offer, ...given }))).toEqual(expected)
  })

  test.each([
    [target, 'match="/assets/a-*.js", match-dest=("script")'],
    ['/assets/s-1.css', 'match="/assets/\\\\(s\\\\)%20*.css", match-dest=("style")'],
    ['/assets/data-1.json', 'match="/assets/data-*.json"'],
    ['/assets/w-1.js', undefined],
    ['/', undefined],
  ])('sends Use-As-Dictionary for %s', (path, expected) => {
    const site = siteWith()
    const mark = (given: Partial<RequestFields>): string | undefined =>
      fieldsOf(ask(site, { target: path, ...given }))['Use-As-Dictionary']
    expect(mark({})).toBe(expected)
    expect(mark({ method: 'HEAD' })).toBe(expected)
    expect(mark({ ifNoneMatch: '*' })).toBe(expected)
    expect(mark({ range: 'bytes=0-0' })).toBeUndefined()
  })

  test.each<[string, FakeSiteOptions]>([
    ['a rule requires revalidation', { rules: { cacheControl: { '**': 'no-cache' } } }],
    ['a rule removes Cache-Control', { rules: { headers: { '**': { 'Cache-Control': null } } } }],
    ['deltas are disabled', { hasDeltas: false }],
  ])('sends no Use-As-Dictionary if %s', (_what, options) => {
    const site = siteWith(options)
    const answer = ask(site, { availableDictionary: offer })
    expect(shown(answer)).toEqual([200, 'br', 'Accept-Encoding'])
    expect(fieldsOf(answer)).not.toHaveProperty('Use-As-Dictionary')
  })

  test('lets shared caches keep a delta only with sharedCache', () => {
    const freshness = {
      'CDN-Cache-Control': 'max-age=9',
      'Edge-Control': '!no-store, max-age=9',
      Expires: '0',
      'Surrogate-Control': 'max-age=9',
      'X-Accel-Expires': '9',
    }
    const headers = { ...freshness, 'X-Of': 'a rule' }
    const rules = {
      cacheControl: { '**': 'public, max-age=9, immutable' },
      headers: { '**': headers },
    }
    const ours = deltaOf(siteWith({ rules }))
    expect(ours).toMatchObject({ 'Cache-Control': 'private, max-age=31536000, immutable', 'X-Of': 'a rule' })
    expect(Object.keys(ours).filter((name) => name in freshness)).toEqual([])
    expect(deltaOf(siteWith({ rules: { ...rules, sharedCache: true } }))).toMatchObject({
      'Cache-Control': 'public, max-age=9, immutable',
      'Content-Encoding': 'dcb',
      ...headers,
    })
    const shared = deltaOf(siteWith({ rules: { sharedCache: true } }))
    expect(shared['Cache-Control']).toBe('public, max-age=31536000, immutable')
  })

  test.each([null, 'Origin', 'accept-encoding'])(
    'keeps both members of Vary despite a rule for Vary (%s)',
    (value) => {
      const site = siteWith({ rules: { headers: { '**': { Vary: value } }, sharedCache: true } })
      for (const given of [{}, { availableDictionary: offer }, { acceptEncoding: '*;q=0' }]) {
        const { Vary: vary = '' } = fieldsOf(ask(site, given))
        expect(vary.toLowerCase()).toMatch(/accept-encoding.*available-dictionary/)
      }
    },
  )

  test('sends no Use-As-Dictionary for files of earlier builds', () => {
    const earlier = { 'assets/k-1.js': { ...script, stem: 'assets/k-[hash].js' } }
    const kept = [{ ...fakeBuild(earlier, { buildId: 'a'.repeat(32) }), deltas: new Map() }]
    expect(shown(ask(siteWith({ kept }), { target: '/assets/k-1.js' }))).toEqual([
      200,
      'br',
      'Accept-Encoding',
    ])
  })
})
