import type { RawRequest } from './raw-request.ts'

/** A request, and the response that every host must send. */
export interface BlackBoxRow {
  readonly what: string
  readonly request: RawRequest
  /** Whether a middleware passes this request on. */
  readonly isPassedOn?: boolean
  readonly answer: BlackBoxAnswer
}

interface BlackBoxAnswer {
  readonly status: number
  /** `undefined`: the field must be absent. */
  readonly fields?: Readonly<Record<string, string | RegExp | undefined>>
  /** The file of the build that is the body. */
  readonly file?: string
  /** The range of `file` that is the body. */
  readonly slice?: readonly [first: number, end?: number]
  readonly body?: string
}

const app = '/assets/app-1a2b3c.js'
const script = 'text/javascript; charset=utf-8'
const html = 'text/html; charset=utf-8'
const immutable = 'public, max-age=31536000, immutable'
const navigation = { 'Sec-Fetch-Mode': 'navigate' }
const strongTag = /^"[^"]+"$/
const noStore = { 'Cache-Control': 'no-store' }
const plainText = { ...noStore, 'Content-Type': 'text/plain; charset=utf-8' }

const ofApp = {
  'Content-Type': script,
  'Cache-Control': immutable,
  Vary: 'Accept-Encoding',
  ETag: strongTag,
  'Last-Modified': / GMT$/,
  'X-Content-Type-Options': 'nosniff',
}
const notFound = { status: 404, body: '404 Not Found\n', fields: plainText }

const ranges: readonly (readonly [string, string, NonNullable<BlackBoxAnswer['slice']>])[] = [
  ['the first byte', 'bytes=0-0', [0, 1]],
  ['a part', 'bytes=5-199999', [5, 200_000]],
  ['an upper-case unit', 'BYTES=5-9', [5, 10]],
  ['an end beyond the file', 'bytes=5-99999999999999999999', [5]],
  ['a suffix', 'bytes=-7', [-7]],
  ['a suffix longer than the file', 'bytes=-99999999', [0]],
]

const unknown: readonly (readonly [string, RawRequest])[] = [
  ['an unknown path', { target: '/api/users?x=1', fields: { 'Sec-Fetch-Mode': 'cors' } }],
  ['an unknown path by HEAD', { target: '/api/users', method: 'HEAD', fields: { Accept: 'text/css' } }],
  ['an unknown file', { target: '/users/jane.doe?x', fields: { Accept: '*/*' } }],
  ['an unknown path by POST', { target: '/api/users', method: 'POST' }],
  ['a missing asset', { target: '/assets/app-old.js', fields: navigation }],
  ['the manifest', { target: '/.serve-dist/manifest.json' }],
  ['a variant under its own name', { target: `${app}.br` }],
  ['an empty segment', { target: '/x//index.html' }],
  ['an encoded slash', { target: '/docs%2Findex.html' }],
]

/** The rows of docs/http.md that do not depend on how a host reads sockets. */
export const blackBoxRows: readonly BlackBoxRow[] = [
  {
    what: 'the page',
    request: { target: '/' },
    answer: {
      status: 200,
      file: 'index.html',
      fields: {
        'Content-Type': html,
        'Cache-Control': 'no-cache',
        'Content-Encoding': undefined,
        'Accept-Ranges': 'bytes',
      },
    },
  },
  {
    what: 'a page without its extension',
    request: { target: '/about' },
    answer: { status: 200, file: 'about.html', fields: { 'Content-Type': html, Vary: undefined } },
  },
  {
    what: 'a query',
    request: { target: '/about?v=1&x=%zz' },
    answer: { status: 200, file: 'about.html' },
  },
  {
    what: 'an encoded name',
    request: { target: '/with%20space+plus.txt' },
    answer: { status: 200, file: 'with space+plus.txt' },
  },
  {
    what: 'a name beyond ASCII',
    request: { target: '/caf%C3%A9.txt' },
    answer: { status: 200, file: 'caf\u00e9.txt' },
  },
  ...(
    [
      ['zstd', 'gzip, br, zstd', '.zst'],
      ['br', 'gzip, br', '.br'],
      ['gzip', 'x-gzip', '.gz'],
      ['br', 'zstd;q=0.5, br;q=0.501', '.br'],
      ['zstd', '*', '.zst'],
    ] as const
  ).map(([coding, acceptEncoding, extension]) => ({
    what: `Accept-Encoding: ${acceptEncoding}`,
    request: { target: app, fields: { 'Accept-Encoding': acceptEncoding } },
    answer: {
      status: 200,
      file: `${app.slice(1)}${extension}`,
      fields: { ...ofApp, 'Content-Encoding': coding, 'Accept-Ranges': undefined },
    },
  })),
  ...['', 'identity', 'deflate, brr', 'br;q=0, zstd;q=0, gzip;q=0.0'].map((acceptEncoding) => ({
    what: `Accept-Encoding: ${acceptEncoding === '' ? '(empty)' : acceptEncoding}`,
    request: { target: app, fields: { 'Accept-Encoding': acceptEncoding } },
    answer: {
      status: 200,
      file: app.slice(1),
      fields: { ...ofApp, 'Content-Encoding': undefined, 'Accept-Ranges': 'bytes' },
    },
  })),
  {
    what: 'a coding that is not there for a small text',
    request: { target: '/small.txt', fields: { 'Accept-Encoding': 'gzip, br, zstd' } },
    answer: {
      status: 200,
      file: 'small.txt',
      fields: { 'Content-Encoding': undefined, Vary: undefined, ETag: strongTag },
    },
  },
  {
    what: 'an identity that is refused',
    request: { target: '/pixels.png', fields: { 'Accept-Encoding': 'br, identity;q=0' } },
    answer: { status: 406, body: '406 Not Acceptable\n', fields: plainText },
  },
  {
    what: 'an empty file',
    request: { target: '/empty.txt' },
    answer: { status: 200, file: 'empty.txt' },
  },
  {
    what: 'HEAD',
    request: { method: 'HEAD', target: app, fields: { 'Accept-Encoding': 'br' } },
    answer: { status: 200, file: `${app.slice(1)}.br`, fields: { ...ofApp, 'Content-Encoding': 'br' } },
  },
  {
    what: 'OPTIONS',
    request: { method: 'OPTIONS', target: '/' },
    answer: { status: 204, body: '', fields: { Allow: 'GET, HEAD, OPTIONS', 'Content-Length': undefined } },
  },
  {
    what: 'another method',
    request: { method: 'POST', target: '/' },
    isPassedOn: true,
    answer: {
      status: 405,
      body: '405 Method Not Allowed\n',
      fields: { ...plainText, Allow: 'GET, HEAD, OPTIONS' },
    },
  },
  ...ranges.map(([what, range, slice]) => ({
    what: `a range: ${what}`,
    request: { target: app, fields: { Range: range, 'Accept-Encoding': 'br' } },
    answer: {
      status: 206,
      file: app.slice(1),
      slice,
      fields: { ...ofApp, 'Content-Encoding': undefined, 'Content-Range': /^bytes \d+-\d+\/\d+$/ },
    },
  })),
  ...['bytes=9999999-', 'bytes=-0'].map((range) => ({
    what: `a range that is not there: ${range}`,
    request: { target: app, fields: { Range: range } },
    answer: {
      status: 416,
      body: '416 Range Not Satisfiable\n',
      fields: { ...plainText, 'Content-Range': /^bytes \*\/\d+$/ },
    },
  })),
  ...['bytes=5-2', 'bytes=0-1, 4-5', 'lines=0-1', 'bytes=x'].map((range) => ({
    what: `a range that is ignored: ${range}`,
    request: { target: app, fields: { Range: range } },
    answer: { status: 200, file: app.slice(1), fields: { 'Content-Range': undefined } },
  })),
  {
    what: 'If-Range that fails',
    request: { target: app, fields: { Range: 'bytes=0-0', 'If-Range': '"other"' } },
    answer: { status: 200, file: app.slice(1) },
  },
  {
    what: 'If-None-Match that matches',
    request: { target: app, fields: { 'If-None-Match': '*', 'Accept-Encoding': 'br' } },
    answer: {
      status: 304,
      body: '',
      fields: {
        ETag: strongTag,
        'Cache-Control': immutable,
        Vary: 'Accept-Encoding',
        'Last-Modified': / GMT$/,
        'Content-Length': undefined,
        'Content-Type': undefined,
        'Content-Encoding': undefined,
      },
    },
  },
  {
    what: 'If-None-Match that does not match, with a comma in a tag',
    request: { target: app, fields: { 'If-None-Match': '"a,b", W/"c"' } },
    answer: { status: 200, file: app.slice(1) },
  },
  {
    what: 'If-Match that fails',
    request: { target: app, fields: { 'If-Match': '"other"' } },
    answer: {
      status: 412,
      body: '412 Precondition Failed\n',
      fields: { ...plainText, Vary: 'Accept-Encoding' },
    },
  },
  {
    what: 'If-Modified-Since that is later',
    request: { target: app, fields: { 'If-Modified-Since': 'Fri, 31 Dec 2100 23:59:59 GMT' } },
    answer: { status: 304, body: '' },
  },
  {
    what: 'a redirect that keeps the query',
    request: { target: '/docs?a=b' },
    answer: { status: 308, body: '', fields: { Location: '/docs/?a=b', 'Cache-Control': 'no-cache' } },
  },
  {
    what: 'a redirect that is no other host',
    request: { target: '/about/?//evil.example' },
    answer: { status: 308, fields: { Location: '/about?//evil.example' } },
  },
  {
    what: 'a malformed path',
    request: { target: '/%', fields: navigation },
    answer: { status: 400, body: '400 Bad Request\n', fields: plainText },
  },
  {
    what: 'an encoded NUL',
    request: { target: '/about%00' },
    answer: { status: 400, body: '400 Bad Request\n', fields: plainText },
  },
  ...unknown.map(([what, request]) => ({
    what,
    request,
    isPassedOn: true,
    answer: notFound,
  })),
  {
    what: 'a navigation to an unknown path',
    request: { target: '/users/jane.doe', fields: navigation },
    isPassedOn: true,
    answer: { status: 200, file: 'index.html', fields: { 'Content-Type': html } },
  },
  {
    what: 'a client of any type at an unknown path',
    request: { target: '/v1.2/users?x=a.b', fields: { Accept: '*/*' } },
    isPassedOn: true,
    answer: { status: 200, file: 'index.html', fields: { 'Content-Type': html } },
  },
]
