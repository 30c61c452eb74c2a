import fc from 'fast-check'
import send from 'send'
import { beforeAll, describe, expect, test } from 'vitest'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { buildFixture } from '../support/build-fixture.ts'
import type { RawResponse } from '../support/parse-response.ts'
import { rawRequest, type RawRequest } from '../support/raw-request.ts'
import { startListener } from '../support/start-listener.ts'

const text = 'The quick brown fox jumps over the lazy dog. '.repeat(10)
const names = ['plain.txt', 'empty.txt', 'with space.txt', 'plus+.txt', 'caf\u00e9.txt', 'folder/inner.txt']

let ours: number
let theirs: number
let validators: { readonly ours: Validators; readonly theirs: Validators }

interface Validators {
  readonly tag: string
  readonly date: string
}

beforeAll(async () => {
  // Without a manifest, the server sends no Last-Modified. send has no variants.
  const directory = await buildFixture(
    Object.fromEntries(names.map((name) => [name, name === 'empty.txt' ? '' : text])),
    { codings: [] },
  )
  const handle = createHandler(await loadSite(directory))
  ours = await startListener((request, response) => handle(request, response))
  theirs = await startListener((request, response) => {
    send(request, (request.url ?? '').replace(/\?.*/, ''), { root: directory, index: false }).pipe(response)
  })
  validators = { ours: await validatorsAt(ours), theirs: await validatorsAt(theirs) }
})

async function validatorsAt(port: number): Promise<Validators> {
  const response = await rawRequest(port, { target: '/plain.txt' })
  return { tag: response.field('ETag') ?? '', date: response.field('Last-Modified') ?? '' }
}

/**
 * Returns a field's value from the validators, which differ: send's entity tags are weak and derive from the
 * time.
 */
type Value = (validators: Validators) => string

const conditions: readonly Readonly<Record<string, Value>>[] = [
  {},
  { 'If-None-Match': ({ tag }) => tag },
  { 'If-None-Match': ({ tag }) => `"x", ${tag}` },
  { 'If-None-Match': () => '*' },
  { 'If-None-Match': () => '"x"' },
  { 'If-Match': () => '*' },
  { 'If-Match': () => '"x"' },
  { 'If-Modified-Since': ({ date }) => date },
  { 'If-Modified-Since': () => 'Sun, 06 Nov 1994 08:49:37 GMT' },
  { 'If-Modified-Since': () => 'never' },
  { 'If-Unmodified-Since': ({ date }) => date },
  { 'If-Unmodified-Since': () => 'Sun, 06 Nov 1994 08:49:37 GMT' },
  { 'If-None-Match': () => '"x"', 'If-Modified-Since': ({ date }) => date },
  { 'If-Range': () => '"x"' },
  { 'If-Range': ({ date }) => date },
]

function withFields(
  request: RawRequest,
  fields: Readonly<Record<string, Value>>,
  of: Validators,
): RawRequest {
  const resolved = Object.entries(fields).map(([name, value]) => [name, value(of)])
  return { ...request, fields: { ...request.fields, ...Object.fromEntries(resolved) } }
}

/** Returns the parts that must be equal. Bodies of errors differ. */
function comparable({ status, body, field }: RawResponse): unknown {
  const isSuccess = status < 400
  return {
    status,
    body: isSuccess ? body.toString() : undefined,
    contentRange: field('Content-Range'),
    contentLength: isSuccess && status !== 304 ? field('Content-Length') : undefined,
    contentType: status === 200 || status === 206 ? field('Content-Type') : undefined,
  }
}

async function ask(
  request: RawRequest,
  fields: Readonly<Record<string, Value>> = {},
): Promise<readonly [ours: unknown, theirs: unknown]> {
  const [left, right] = await Promise.all([
    rawRequest(ours, withFields(request, fields, validators.ours)),
    rawRequest(theirs, withFields(request, fields, validators.theirs)),
  ])
  return [comparable(left), comparable(right)]
}

describe('send, which express.static uses', () => {
  test('gives the same answers to conditions and ranges, except for the differences below', async () => {
    const size = text.length
    const range = fc.oneof(
      fc.constantFrom(undefined, 'bytes=0-', 'bytes=-1', 'bytes=-0', 'lines=1-2', 'bytes=x', 'bytes=0-1,4-5'),
      fc
        .tuple(fc.nat(size + 20), fc.nat(size + 20))
        .map(([a, b]) => `bytes=${Math.min(a, b)}-${Math.max(a, b)}`),
      fc.nat(size).map((length) => `bytes=-${length}`),
    )
    const method = fc.constantFrom('GET', 'HEAD')
    await fc.assert(
      fc.asyncProperty(method, range, fc.constantFrom(...conditions), async (name, value, fields) => {
        const ranged = name === 'GET' && value !== undefined ? { Range: value } : {}
        const [left, right] = await ask({ method: name, target: '/plain.txt', fields: ranged }, fields)
        expect(left).toEqual(right)
      }),
      { numRuns: 400 },
    )
  })

  test.each<readonly [string, string, RawRequest, Readonly<Record<string, Value>>, number, number]>([
    [
      'a range whose end is before its beginning is ignored',
      'RFC 9110 §14.1.1',
      { fields: { Range: 'bytes=5-2' } },
      {},
      200,
      416,
    ],
    [
      'a suffix longer than all is all',
      'RFC 9110 §14.1.2',
      { fields: { Range: 'bytes=-999' } },
      {},
      206,
      416,
    ],
    [
      'a range means nothing to HEAD',
      'RFC 9110 §14.2',
      { method: 'HEAD', fields: { Range: 'bytes=0-4' } },
      {},
      200,
      206,
    ],
    [
      'a date in If-Range is the very date',
      'RFC 9110 §13.1.5',
      { fields: { Range: 'bytes=0-4' } },
      { 'If-Range': () => 'Thu, 01 Jan 2199 00:00:00 GMT' },
      200,
      206,
    ],
    ['an encoded slash is no separator', 'RFC 3986 §2.2', { target: '/folder%2Finner.txt' }, {}, 404, 200],
    ['an encoded control character is malformed', 'RFC 3986 §2.1', { target: '/a%01' }, {}, 400, 404],
  ])('differs: %s (%s)', async (_what, _section, request, fields, here, there) => {
    const [left, right] = await ask({ target: '/plain.txt', ...request }, fields)
    expect([left, right]).toMatchObject([{ status: here }, { status: there }])
  })

  test.each([
    ...names.map((name) => `/${name.split('/').map(encodeURIComponent).join('/')}`),
    '/unknown',
    '/FOLDER/inner.txt',
    '/plain.txt?a=b',
    '/%70lain.txt',
    '/plain.txt/x',
    '/folder%5Cinner.txt',
    '/%2570lain.txt',
    '/%',
    '/%00',
    '/.hidden',
  ])('answers %s alike', async (target) => {
    const [left, right] = await ask({ target })
    expect(left).toEqual(right)
  })
})
