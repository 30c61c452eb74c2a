import type { ContentCoding } from '@serve-dist/manifest'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { BuiltExample } from '../src/built-example.ts'
import { digestInPage } from '../src/digest-in-page.ts'
import { chromiumPath } from '../src/launch-chromium.ts'
import { openPage } from '../src/open-page.ts'
import { type ServedExample, serveToChromium } from '../src/serve-to-chromium.ts'
import { urlOfFile } from '../src/url-of-file.ts'

/**
 * The codings that Chromium offers (`undefined`: its own choice), and the codings of the responses, best
 * first.
 */
const offers: readonly (readonly [offer: string | undefined, expected: readonly ContentCoding[]])[] = [
  [undefined, ['zstd', 'br', 'gzip']],
  ['zstd', ['zstd']],
  ['br', ['br']],
  ['gzip', ['gzip']],
  ['identity', []],
]

describe.skipIf(chromiumPath === undefined).each([...inject('examples')])(
  'Chromium on $name',
  (example: BuiltExample) => {
    let served: ServedExample

    beforeAll(async () => {
      served = await serveToChromium(example)
    })

    afterAll(async () => served?.close())

    test.each(offers)(
      'decodes every file to its original with Accept-Encoding: %s',
      async (offer, codings) => {
        const { browser, manifest, url } = served
        const { page, complaints } = await openPage(browser, offer)
        await page.goto(url.href, { waitUntil: 'networkidle' })
        for (const file of manifest.files) {
          const digest = await digestInPage(page, urlOfFile(url, file.path))
          expect.soft(digest, file.path).toBe(file.sha256)
        }
        expect(complaints).toEqual([])

        const exchanges = served.takeExchanges().filter(({ status }) => status === 200)
        expect(exchanges.length).toBeGreaterThanOrEqual(manifest.files.length)
        for (const { target, requestHeaders, responseHeaders } of exchanges) {
          const file = manifest.files.find(({ path }) => urlOfFile(url, path).pathname === target)
          if (file === undefined) continue
          const expected = codings.find((name) => file.variants.some(({ coding }) => coding === name))
          expect.soft(requestHeaders['accept-encoding'], target).toBe(offer ?? 'gzip, deflate, br, zstd')
          expect.soft(responseHeaders['content-encoding'], target).toBe(expected)
        }
      },
    )
  },
)
