import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { decompress as decompressZstd } from '@mongodb-js/zstd'
import { type ReceivedResponse, sendRequest } from '../../src/send-request.ts'

/** The answer of a server to one request of this test. */
export interface Answer {
  readonly status: number
  readonly headers: ReceivedResponse['headers']
  /** The number of bytes of the body on the wire. */
  readonly wireBytes: number
  /** The body as text, without its content coding. */
  readonly body: string
  readonly isNavigation: boolean
}

/** Answers by the request that they answer. */
export type Answers = Readonly<Record<string, Answer>>

const coded = { 'accept-encoding': 'zstd, br, gzip', 'sec-fetch-mode': 'no-cors' }
const navigation = {
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'accept-encoding': 'zstd, br, gzip',
  'sec-fetch-mode': 'navigate',
}

/** Sends the requests of a browser's visits to a server of a build. Returns the answers by request. */
export async function recordAnswers(dist: string, url: URL): Promise<Answers> {
  const assets = await readdir(path.join(dist, 'assets'))
  const find = (pattern: RegExp): string => `/assets/${assets.find((name) => pattern.test(name)) ?? ''}`
  const [script, style] = [find(/^index-.*\.js$/), find(/^index-.*\.css$/)]
  const ask = (target: string, headers: Record<string, string>, method = 'GET'): Promise<Answer> =>
    request(new URL(target, url), headers, method)
  const first = await ask(script, coded)
  return {
    'a page': await ask('/', navigation),
    'a page under its file name': await ask('/index.html', navigation),
    'a route of the application': await ask('/planets/earth', navigation),
    'a hashed script': first,
    'a hashed script for gzip': await ask(script, { ...coded, 'accept-encoding': 'gzip' }),
    'a hashed script for brotli or gzip': await ask(script, { ...coded, 'accept-encoding': 'br, gzip' }),
    'a hashed script without compression': await ask(script, {}),
    'a hashed script again': await ask(script, { ...coded, ...conditionsOf(first) }),
    'the first bytes of a hashed script': await ask(script, { range: 'bytes=0-99' }),
    'a hashed script by HEAD': await ask(script, coded, 'HEAD'),
    'a hashed style': await ask(style, coded),
    data: await ask('/planets.json', coded),
    'an image': await ask('/icon.svg', coded),
    'a small text': await ask('/robots.txt', coded),
    'a missing hashed script': await ask('/assets/index-0000aaaa.js', coded),
    'a missing image': await ask('/gone.png', coded),
    'a missing file without an extension': await ask('/gone', coded),
    'an old address': await ask('/blog/mars', navigation),
  }
}

function conditionsOf({ headers }: Answer): Record<string, string> {
  const { etag, 'last-modified': time } = headers
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(time !== undefined && { 'if-modified-since': time }),
  }
}

async function request(url: URL, headers: Record<string, string>, method: string): Promise<Answer> {
  const { body, ...received } = await sendRequest(url, { method, headers })
  const decoded = await decode(body, received.headers['content-encoding'])
  const isNavigation = headers['sec-fetch-mode'] === 'navigate'
  return { ...received, wireBytes: body.byteLength, body: decoded.toString(), isNavigation }
}

async function decode(body: Buffer, coding: string | undefined): Promise<Buffer> {
  // A HEAD and a 304 name a coding and have no body.
  if (coding === undefined || body.byteLength === 0) return body
  if (coding === 'zstd') return Buffer.from(await decompressZstd(body))
  return coding === 'br' ? brotliDecompressSync(body) : gunzipSync(body)
}
