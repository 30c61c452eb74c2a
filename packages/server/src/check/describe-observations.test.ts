import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { Proxy } from './detect-proxies.ts'
import { describeObservations, type SiteObservation } from './describe-observations.ts'
import { findingMessages } from './finding-messages.ts'

function sentences(observations: readonly SiteObservation[], ...seen: readonly Proxy[]): string[] {
  return describeObservations(observations, seen).map(({ text }) => text)
}

describe('describeObservations', () => {
  test('combines observations of one kind, and counts each file once', () => {
    const paths = ['/a.js', '/b.js', '/c.js', '/d.js']
    const stripped = paths.flatMap((path): SiteObservation[] => [
      { code: 'stripped', path, detail: 'zstd', bytes: 2000, of: 1000 },
      { code: 'stripped', path, detail: 'br', bytes: 2000, of: 1000 },
    ])
    expect(sentences(stripped)).toEqual([
      "zstd and br of /a.js, /b.js and 2 more did not arrive. A browser loads 12.0 kB of these 4 files instead of 4.0 kB. Forward the client's Accept-Encoding to serve-dist.",
    ])
  })

  test('escapes control characters of a site, and shortens a long header', () => {
    const [text = ''] = sentences([{ code: 'media-type', path: '/', detail: `\u009B2J${'x'.repeat(9000)}` }])
    expect(text).toMatch(/^Content-Type of \/ is \\u\{9b\}2Jx{192}…\. Browsers/)
  })

  test('names the setting of each proxy that was seen', () => {
    expect(sentences([{ code: 'http1', path: '/' }], 'ingress-nginx', 'Cloudflare')).toEqual([
      'HTTP/2 is not offered. A page with many files loads six at a time. In ingress-nginx, set use-http2: "true" in its ConfigMap. In Cloudflare, turn on HTTP/2 (Speed, Settings, Protocol).',
    ])
  })

  test.each(Object.entries(findingMessages))(
    'uses known placeholders in the sentence of %s',
    (_code, words) => {
      const sentence = [words.what, words.cost].join(': ')
      const places = sentence.match(/\{\w+\}/g) ?? []
      expect(['{names}', '{details}', '{bytes}']).toEqual(expect.arrayContaining(places))
      expect(new Set(places).size).toBe(places.length)
    },
  )
})

test('docs/check.md has a row for every finding, with its level', async () => {
  const document = await readFile(new URL('../../../../docs/check.md', import.meta.url), 'utf8')
  const [, table = ''] = document.split('## A site')
  const rows = [...table.matchAll(/^\| `([\w-]+)` +\| (error|warning) +\|/gm)]
  expect(Object.fromEntries(rows.map(([, code, level]) => [code, level]))).toEqual(
    Object.fromEntries(Object.entries(findingMessages).map(([code, { level }]) => [code, level])),
  )
})
