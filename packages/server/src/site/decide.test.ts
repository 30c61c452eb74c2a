import type { Fallback } from '@serve-dist/manifest'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide } from './decide.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import type { Answer } from './site.ts'
import { fakeSite, resourceAt } from '../../test/support/fake-site.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'
import { createRequestFields } from '../../test/support/create-request-fields.ts'

const files = {
  'index.html': { body: '<!doctype html>', variants: { br: 'page' } },
  'about.html': 'about',
  'docs/index.html': 'docs',
  'assets/a-1.js': { body: '0123456789', variants: { zstd: 'zz', br: 'b', gzip: 'ggg' }, cache: 'immutable' },
  'empty.txt': '',
  'film.mp4': { body: '0123456789', isStreamed: true },
} as const
const site = fakeSite(files, { assetsDirectory: 'assets' })
const withNotFound = fakeSite({ ...files, '404.html': 'gone' }, { assetsDirectory: 'assets', appType: 'mpa' })
const underBase = fakeSite(files, { base: '/app/', assetsDirectory: 'assets' })
const script = resourceAt(site, '/assets/a-1.js')
const navigation = { secFetchMode: 'navigate' }

function statusOf(given: Partial<RequestFields>, fallback: Fallback = 'spa', of = site): number | undefined {
  return decide(of, createRequestFields(given), fallback)?.status
}

function fieldOf(answer: Answer | undefined, name: string): string | undefined {
  const fields = answer?.fields ?? []
  const index = fields.findIndex((field, at) => at % 2 === 0 && field === name)
  return index === -1 ? undefined : fields[index + 1]
}

describe('decide', () => {
  describe('the path', () => {
    test.each([
      ['a known path', '/assets/a-1.js', 200],
      ['a known path with a query', '/assets/a-1.js?v=2', 200],
      ['a known path with unnecessary escapes', '/%61ssets/a%2D1.js', 200],
      ['a known path in absolute form', 'http://example.org/assets/a-1.js', 200],
      ['a folder without its slash', '/docs', 308],
      ['a page with a slash', '/about/', 308],
      ['an unknown file', '/unknown.txt', undefined],
      ['an unknown page', '/unknown', 200],
      ['a broken escape', '/%', 400],
      ['an encoded NUL', '/assets/a-1.js%00', 400],
      ['a parent segment', '/assets/../assets/a-1.js', undefined],
      ['two slashes', '//assets/a-1.js', undefined],
      ['an encoded slash', '/assets%2Fa-1.js', undefined],
      ['an encoded backslash', '/assets%5Ca-1.js', undefined],
      ['a variant under its own suffix', '/assets/a-1.js.br', undefined],
      ['another case', '/ASSETS/a-1.js', undefined],
    ])('maps %s (%s) to %s', (_what, target, status) => {
      expect(statusOf({ target })).toBe(status)
    })

    test('keeps the query in a redirect', () => {
      const answer = decide(site, createRequestFields({ target: '/docs?a=//b&c' }), 'none')
      expect(fieldOf(answer, 'Location')).toBe('/docs/?a=//b&c')
      expect(fieldOf(answer, 'Cache-Control')).toBe('no-cache')
    })
  })

  describe('the method', () => {
    test.each([
      ['HEAD', '/about', 200],
      ['OPTIONS', '/about', 204],
      ['OPTIONS', '/docs', 204],
      ['OPTIONS', '*', 204],
      ['POST', '/about', 405],
      ['POST', '/docs', 405],
      ['DELETE', '/about', 405],
      ['get', '/about', 405],
      ['POST', '/unknown', undefined],
      ['OPTIONS', '/unknown', undefined],
      ['GET', '*', undefined],
      ['POST', '/%', 400],
    ])('answers %s %s with %s', (method, target, status) => {
      expect(statusOf({ method, target })).toBe(status)
    })

    test.each(['POST', 'OPTIONS'])('lists the allowed methods in the answer to %s', (method) => {
      expect(fieldOf(decide(site, createRequestFields({ method, target: '/about' }), 'spa'), 'Allow')).toBe(
        'GET, HEAD, OPTIONS',
      )
    })
  })

  describe('a fallback', () => {
    test.each<readonly [string, Partial<RequestFields>, Fallback, number | undefined]>([
      ['a navigation', { target: '/users', ...navigation }, 'spa', 200],
      ['a navigation to a name with a dot', { target: '/users/jane.doe', ...navigation }, 'spa', 200],
      ['a HEAD navigation', { method: 'HEAD', target: '/users', ...navigation }, 'spa', 200],
      ['a navigation by Accept', { target: '/users', accept: 'text/html' }, 'spa', 200],
      ['a navigation to an encoded slash', { target: '/users/a%2Fb', ...navigation }, 'spa', 200],
      ['a navigation below the assets', { target: '/assets/old.js', ...navigation }, 'spa', undefined],
      ['a navigation to an unclean path', { target: '/a/../users', ...navigation }, 'spa', undefined],
      ['a request with Accept: */*', { target: '/users', accept: '*/*' }, 'spa', 200],
      ['… to a name with a dot', { target: '/users/jane.doe', accept: '*/*' }, 'spa', undefined],
      ['… to an escaped dot', { target: '/users/jane%2Edoe', accept: '*/*' }, 'spa', undefined],
      ['… with a dot in the query', { target: '/users?q=a.b', accept: '*/*' }, 'spa', 200],
      ['… below the assets', { target: '/assets/old', accept: '*/*' }, 'spa', undefined],
      [
        'a request for a script',
        { target: '/users', secFetchMode: 'no-cors', accept: 'text/html' },
        'spa',
        undefined,
      ],
      ['a POST', { method: 'POST', target: '/users', ...navigation }, 'spa', undefined],
      ['a navigation without a fallback', { target: '/users', ...navigation }, 'none', undefined],
      ['a navigation to a build without a 404 page', { target: '/users', ...navigation }, '404', undefined],
    ])('answers without a 404 page: %s', (_what, given, fallback, status) => {
      expect(statusOf(given, fallback)).toBe(status)
    })

    test.each<readonly [string, Partial<RequestFields>, Fallback, number | undefined]>([
      ['a navigation', { target: '/users', ...navigation }, '404', 404],
      ['a navigation in a single-page application', { target: '/users', ...navigation }, 'spa', 404],
      ['a navigation below the assets', { target: '/assets/old.js', ...navigation }, '404', 404],
      ['a request with Accept: */*', { target: '/users', accept: '*/*' }, '404', 404],
      ['… to a name with a dot', { target: '/users/jane.doe', accept: '*/*' }, '404', undefined],
      ['a navigation without a fallback', { target: '/users', ...navigation }, 'none', undefined],
    ])('answers with a 404 page: %s', (_what, given, fallback, status) => {
      const answer = decide(withNotFound, createRequestFields(given), fallback)
      const gone = { status, content: { kind: 'memory', bytes: Buffer.from('gone') } }
      const known = answer === undefined ? [] : [{ status: answer.status, content: answer.content }]
      expect(known).toEqual(status === undefined ? [] : [gone])
      expect(fieldOf(answer, 'Cache-Control')).toBe(status === undefined ? undefined : 'no-store')
    })

    test('applies only below the base', () => {
      expect(statusOf({ target: '/app/users', ...navigation }, 'spa', underBase)).toBe(200)
      expect(statusOf({ target: '/users', ...navigation }, 'spa', underBase)).toBeUndefined()
      expect(statusOf({ target: '/app/assets/old', ...navigation }, 'spa', underBase)).toBeUndefined()
    })

    test('negotiates and revalidates the fallback like the page itself', () => {
      const page = decide(
        site,
        createRequestFields({ target: '/users', ...navigation, acceptEncoding: 'br' }),
        'spa',
      )
      expect(fieldOf(page, 'Content-Encoding')).toBe('br')
      const ifNoneMatch = fieldOf(page, 'ETag')
      expect(statusOf({ target: '/users', ...navigation, acceptEncoding: 'br', ifNoneMatch })).toBe(304)
    })
  })

  describe('the representation, the conditions and the range', () => {
    const target = '/assets/a-1.js'
    const tag = script.identity.entityTag
    test.each<readonly [string, Partial<RequestFields>, number, string | undefined]>([
      ['no field', {}, 200, undefined],
      ['a coding', { acceptEncoding: 'br' }, 200, 'br'],
      ['nothing acceptable', { acceptEncoding: 'identity;q=0' }, 406, undefined],
      ['a range', { range: 'bytes=2-5' }, 206, undefined],
      [
        'sends the range of the identity despite Accept-Encoding',
        { range: 'bytes=2-5', acceptEncoding: 'zstd, br' },
        206,
        undefined,
      ],
      [
        'ignores a range if identity is excluded',
        { range: 'bytes=2-5', acceptEncoding: 'br, identity;q=0' },
        200,
        'br',
      ],
      ['answers 416 for a range outside the file', { range: 'bytes=10-' }, 416, undefined],
      [
        'ignores a malformed range and sends a coding',
        { range: 'bytes=5-2', acceptEncoding: 'br' },
        200,
        'br',
      ],
      [
        'ignores several ranges and sends a coding',
        { range: 'bytes=0-1,3-4', acceptEncoding: 'br' },
        200,
        'br',
      ],
      ['ignores the range of a HEAD request', { method: 'HEAD', range: 'bytes=2-5' }, 200, undefined],
      [
        'ignores the unsatisfiable range of a HEAD request',
        { method: 'HEAD', range: 'bytes=99-' },
        200,
        undefined,
      ],
      ['sends the range if If-Range matches', { range: 'bytes=2-5', ifRange: tag }, 206, undefined],
      [
        'sends the whole file if If-Range does not match',
        { range: 'bytes=2-5', ifRange: '"x"', acceptEncoding: 'br' },
        200,
        'br',
      ],
      [
        'sends the whole file if If-Range does not match an unsatisfiable range',
        { range: 'bytes=99-', ifRange: '"x"' },
        200,
        undefined,
      ],
      ['ignores If-Range without Range', { ifRange: '"x"' }, 200, undefined],
      ['evaluates If-None-Match before the range', { range: 'bytes=2-5', ifNoneMatch: tag }, 304, undefined],
      [
        'evaluates If-None-Match before an unsatisfiable range',
        { range: 'bytes=99-', ifNoneMatch: tag },
        304,
        undefined,
      ],
      [
        'evaluates If-Match before an unsatisfiable range',
        { range: 'bytes=99-', ifMatch: '"x"' },
        412,
        undefined,
      ],
      [
        'answers 406 before it evaluates conditions',
        { acceptEncoding: '*;q=0', ifNoneMatch: '*', ifMatch: '"x"' },
        406,
        undefined,
      ],
      ['does not match the tag of another coding', { acceptEncoding: 'br', ifNoneMatch: tag }, 200, 'br'],
    ])('%s', (_what, given, status, coding) => {
      const answer = decide(site, createRequestFields({ target, ...given }), 'none')
      expect([answer?.status, fieldOf(answer, 'Content-Encoding')]).toEqual([status, coding])
      expect(fieldOf(answer, 'Vary')).toBe('Accept-Encoding')
    })

    test('sends Content-Range and the size of the part', () => {
      const answer = decide(site, createRequestFields({ target, range: 'bytes=-3' }), 'none')
      expect(fieldOf(answer, 'Content-Range')).toBe('bytes 7-9/10')
      expect(fieldOf(answer, 'Content-Length')).toBe('3')
      expect(fieldOf(answer, 'ETag')).toBe(tag)
      expect(answer?.content).toEqual({ kind: 'memory', bytes: Buffer.from('789') })
    })

    test('sends the size of the file with 416', () => {
      expect(
        fieldOf(decide(site, createRequestFields({ target, range: 'bytes=10-' }), 'none'), 'Content-Range'),
      ).toBe('bytes */10')
      const empty = decide(site, createRequestFields({ target: '/empty.txt', range: 'bytes=0-' }), 'none')
      expect([empty?.status, fieldOf(empty, 'Content-Range')]).toEqual([416, 'bytes */0'])
    })

    test('reads the range of a streamed file from the file', () => {
      const answer = decide(site, createRequestFields({ target: '/film.mp4', range: 'bytes=2-' }), 'none')
      expect(answer?.content).toMatchObject({ kind: 'file', first: 2, end: 10 })
    })
  })

  describe('any request', () => {
    const fields = fc.record<RequestFields>({
      method: fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'POST', 'BREW'),
      target: fc.oneof(
        fc.constantFrom(
          '/',
          '/about',
          '/about/',
          '/docs',
          '/assets/a-1.js',
          '/empty.txt',
          '/film.mp4',
          '/unknown',
        ),
        fc.constantFrom('*', '/%', '/%00', '//', '/assets/x', '/users/a%2Fb'),
        fc.webPath(),
        fc.string(),
      ),
      accept: fc.constantFrom(undefined, 'text/html', '*/*'),
      acceptEncoding: fc.constantFrom(
        undefined,
        '',
        'gzip, br',
        'zstd',
        'identity;q=0',
        '*;q=0',
        'br, identity;q=0',
      ),
      ifMatch: fc.constantFrom(undefined, undefined, '*', script.identity.entityTag, '"x"'),
      ifModifiedSince: fc.constantFrom(
        undefined,
        script.lastModifiedField,
        'Sun, 06 Nov 1994 08:49:37 GMT',
        'x',
      ),
      ifNoneMatch: fc.constantFrom(undefined, undefined, '*', script.identity.entityTag, '"x"'),
      ifRange: fc.constantFrom(undefined, script.identity.entityTag, script.lastModifiedField, '"x"'),
      ifUnmodifiedSince: fc.constantFrom(undefined, undefined, 'Sun, 06 Nov 1994 08:49:37 GMT'),
      range: fc.oneof(
        fc.constantFrom(undefined, 'bytes=0-', 'bytes=2-5', 'bytes=-0', 'bytes=99-', 'bytes=0-1,3-4'),
        fc.tuple(fc.nat(12), fc.nat(12)).map(([first, last]) => `bytes=${first}-${last}`),
      ),
      secFetchMode: fc.constantFrom(undefined, 'navigate', 'cors'),
      availableDictionary: fc.constantFrom(undefined, ':AA==:'),
      secFetchSite: fc.constantFrom(undefined, 'cross-site'),
      origin: fc.constantFrom(undefined, 'https://other.example'),
    })
    const sites = fc.constantFrom(site, withNotFound, underBase)

    test('gets a consistent answer for any fields', () => {
      fc.assert(
        fc.property(
          sites,
          fields,
          fc.constantFrom<Fallback>('spa', '404', 'none'),
          (of, request, fallback) => {
            const answer = decide(of, request, fallback)
            if (answer === undefined) return
            expect(faultsOf(answer, request)).toEqual([])
          },
        ),
        { numRuns: 3000 },
      )
    })

    test('gets the same answer for HEAD as for GET, except for ranges', () => {
      fc.assert(
        fc.property(sites, fields, (of, request) => {
          const [get, head] = ['GET', 'HEAD'].map((method) =>
            decide(of, { ...request, method, range: undefined }, 'spa'),
          )
          expect(head).toEqual(get)
        }),
      )
    })

    test('gets the same answer twice', () => {
      fc.assert(
        fc.property(sites, fields, (of, request) => {
          expect(decide(of, request, 'spa')).toEqual(decide(of, request, 'spa'))
        }),
      )
    })
  })

  test('is decided in linear time with 100 KB in any field', () => {
    for (const text of hostileTexts(
      ['a', ',', '"a",', '/', '%41', ';q=0.1,', '0-1,'],
      ['', '/', 'bytes=', '"'],
    )) {
      for (const name of [
        'target',
        'accept',
        'acceptEncoding',
        'ifMatch',
        'ifNoneMatch',
        'ifRange',
        'range',
        'secFetchMode',
        'availableDictionary',
        'ifModifiedSince',
        'ifUnmodifiedSince',
      ]) {
        const request = createRequestFields({ target: '/assets/a-1.js', [name]: text })
        expect(millisecondsOf(() => decide(site, request, 'spa'))).toBeLessThan(linearTimeLimit)
      }
    }
  })
})

function lengthOf({ content }: Answer): number {
  if (content.kind === 'memory') return content.bytes.length
  return content.kind === 'file' ? content.end - content.first : 0
}

/** Returns the contradictions in an answer. */
function faultsOf(answer: Answer, { method }: RequestFields): string[] {
  const { status, content } = answer
  const names = answer.fields.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
  const hasBody = status !== 304 && status !== 204
  const isPart = status === 206 || status === 416
  const checks: Readonly<Record<string, boolean>> = {
    'an unexpected status': ![200, 204, 206, 304, 308, 400, 404, 405, 406, 412, 416].includes(status),
    'a field twice': new Set(names).size < names.length,
    'a body': !hasBody && (content.kind !== 'none' || names.some((name) => name.startsWith('content-'))),
    'a wrong length': hasBody && fieldOf(answer, 'Content-Length') !== String(lengthOf(answer)),
    'a cached error': status >= 400 && fieldOf(answer, 'Cache-Control') !== 'no-store',
    'no Cache-Control': !names.includes('cache-control'),
    'a range of a coding': isPart && names.includes('content-encoding'),
    'a range to another method': isPart && method !== 'GET',
  }
  return Object.keys(checks).filter((fault) => checks[fault])
}
