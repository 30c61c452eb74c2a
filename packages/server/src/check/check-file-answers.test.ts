import { fieldPairs } from '../protocol/field-pairs.ts'
import { createHash } from 'node:crypto'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { ContentCoding } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { buildFixture } from '../../test/support/build-fixture.ts'
import { compressibleText } from '../../test/support/compressible-text.ts'
import { loadSite } from '../load/load-site.ts'
import { okAnswer } from '../site/representation-answers.ts'
import type { Representation, Resource } from '../site/site.ts'
import { decodeBody } from './decode-body.ts'
import { type FileAnswers, freshnessLifetimeSeconds, checkFileAnswers } from './check-file-answers.ts'
import type { SiteResponse } from './site-client.ts'

const text = compressibleText(5000)

async function pageOf(rules = {}): Promise<Resource> {
  const { index } = await loadSite(await buildFixture({ 'index.html': text }), { rules })
  if (index === undefined) throw new TypeError('the build has no page')
  return index
}

async function received(fields: readonly string[], body: Uint8Array, coding: string): Promise<SiteResponse> {
  const pairs = Object.fromEntries(
    Array.from(fieldPairs({ fields }), ([name, value]) => [name.toLowerCase(), value]),
  )
  return {
    status: 200,
    fields: pairs,
    size: body.length,
    sha256: createHash('sha256').update(body).digest('hex'),
    coding,
    decoded:
      coding === 'identity'
        ? { sha256: createHash('sha256').update(body).digest('hex') }
        : await decodeBody(coding, body, { size: text.length, mostBytes: 1e6 }),
  }
}

/** Returns the responses of the server itself. */
async function rightAnswers(resource: Resource): Promise<FileAnswers> {
  const answer = async (representation: Representation): Promise<SiteResponse> =>
    await received(
      okAnswer(representation, resource).fields,
      representation.bytes.body ?? new Uint8Array(),
      representation.coding,
    )
  const coded = new Map<ContentCoding, SiteResponse>()
  for (const each of resource.representations) {
    if (each.coding !== 'identity') coded.set(each.coding, await answer(each))
  }
  const browser = coded.get('zstd')
  if (browser === undefined) throw new TypeError('the page has no variant')
  return {
    resource,
    path: '/',
    plain: await answer(resource.identity),
    coded,
    browser,
    again: { ...browser, status: 304 },
  }
}

/** Returns responses that a cache has stored for some seconds. */
async function kept(resource: Resource, fields: Record<string, string> = { age: '7' }): Promise<FileAnswers> {
  const right = await rightAnswers(resource)
  return { ...right, browser: { ...right.browser, fields: { ...right.browser.fields, ...fields } } }
}

function found(answers: FileAnswers): string[] {
  return checkFileAnswers(answers).map(({ code }) => code)
}

describe('checkFileAnswers', () => {
  test("finds no fault in the server's own responses", async () => {
    expect(found(await rightAnswers(await pageOf()))).toEqual([])
  })

  test('finds bytes in a coding without a decoder', async () => {
    const right = await rightAnswers(await pageOf())
    const browser = await received(
      Object.entries(right.browser.fields).flat().map(String),
      new Uint8Array(9),
      'dcb',
    )
    expect(found({ ...right, browser })).toEqual(['not-decoded'])
  })

  test('finds a recompressed or broken body', async () => {
    const right = await rightAnswers(await pageOf())
    const fields = Object.entries({ ...right.browser.fields, etag: 'W/"x"' })
      .flat()
      .map(String)
    const again = await received(fields, gzipSync(text, { level: 1 }), 'gzip')
    expect(checkFileAnswers({ ...right, coded: new Map([...right.coded, ['gzip', again]]) })).toEqual([
      expect.objectContaining({ code: 'recompressed', detail: 'gzip' }),
    ])
    const broken = await received(fields, brotliCompressSync(text).subarray(1), 'br')
    expect(found({ ...right, browser: broken })).toEqual(['broken-coding'])
  })

  test('finds a changed policy, and ignores directives that depend on the environment', async () => {
    const policy = "default-src 'self'; connect-src https://api.example"
    const right = await rightAnswers(
      await pageOf({ headers: { '**': { 'Content-Security-Policy': policy } } }),
    )
    const withPolicy = (value: string): FileAnswers => {
      const fields = { ...right.browser.fields, 'content-security-policy': value }
      return { ...right, browser: { ...right.browser, fields } }
    }
    expect(found(withPolicy(policy))).toEqual([])
    expect(found(withPolicy(`${policy}, frame-ancestors 'none'`))).toEqual(['policy-changed'])
    const other = withPolicy("default-src 'self'; connect-src https://api.stage.example")
    expect(found(other)).toEqual(['policy-changed'])
    expect(found({ ...other, policyByEnvironment: ['connect-src'] })).toEqual([])
  })

  test('finds a policy that did not arrive, or arrived in another mode', async () => {
    const policy = "default-src 'self'"
    const right = await rightAnswers(
      await pageOf({ headers: { '**': { 'Content-Security-Policy': policy } } }),
    )
    const { 'content-security-policy': _lost, ...fields } = right.browser.fields
    const withFields = (more: Record<string, string>): FileAnswers => ({
      ...right,
      browser: { ...right.browser, fields: { ...fields, ...more } },
      plain: { ...right.plain, fields: { ...fields, ...more } },
      coded: new Map(),
    })
    expect(checkFileAnswers(withFields({}))).toContainEqual({
      code: 'policy-lost',
      path: '/',
      detail: 'content-security-policy',
    })
    const reported = 'content-security-policy-report-only'
    expect(checkFileAnswers(withFields({ [reported]: policy }))).toContainEqual({
      code: 'policy-mode',
      path: '/',
      detail: reported,
    })
  })

  test('accepts a page in a cache if a rule of the build allows it', async () => {
    expect(found(await kept(await pageOf()))).toEqual(['page-aged'])
    expect(found(await kept(await pageOf(), { age: '1e999' }))).toEqual([])
    const rules = { headers: { '**': { 'CDN-Cache-Control': 'max-age=600' } } }
    expect(found(await kept(await pageOf(rules)))).toEqual([])
  })

  test.each([
    [{ age: '0' }, []],
    [{ 'x-cache': 'MISS' }, []],
    [{ 'x-cache': 'RefreshHit from cloudfront' }, []],
    [{ 'x-cache': 'MISS, HIT' }, ['page-aged']],
    [{ 'cf-cache-status': 'HIT' }, ['page-aged']],
    [{ 'cf-cache-status': 'REVALIDATED' }, []],
  ])('for a page with %j finds %j', async (fields, codes) => {
    expect(found(await kept(await pageOf(), fields))).toEqual(codes)
  })

  test('accepts a rule of the build that lets browsers keep a page', async () => {
    expect(found(await rightAnswers(await pageOf({ cacheControl: { '**': 'max-age=60' } })))).toEqual([])
  })
})

describe('decodeBody', () => {
  test('decodes zstd, in WebAssembly if Node has no decoder', async () => {
    const { coded, plain } = await rightAnswers(await pageOf())
    expect(coded.get('zstd')?.decoded).toEqual({ sha256: plain.sha256 })
  })

  test.each(['gzip', 'br', 'zstd', 'deflate'])('rejects bytes that are not %s', async (coding) => {
    expect(await decodeBody(coding, Buffer.from('plain text'), { size: 10, mostBytes: 1e6 })).toBe('broken')
  })
})

test.each([
  ['no-cache', 0],
  ['max-age=0, must-revalidate', 0],
  ['public, max-age=31536000, immutable', 31_536_000],
  ['s-maxage=600, max-age=60', 60],
  ['s-maxage=600', 60],
  ['no-store, max-age=60', 0],
  ['Max-Age="5"', 5],
  [undefined, 60],
])('freshnessLifetimeSeconds of %j is %d', (field, seconds) => {
  expect(freshnessLifetimeSeconds(field)).toBe(seconds)
})
