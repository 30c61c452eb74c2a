import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { chromiumPath } from '../src/launch-chromium.ts'
import { openPage } from '../src/open-page.ts'
import { sendRequest } from '../src/send-request.ts'
import { type ServedExample, serveToChromium } from '../src/serve-to-chromium.ts'
import { urlOfFile } from '../src/url-of-file.ts'
import { visitLinks } from '../src/visit-links.ts'

describe.skipIf(chromiumPath === undefined)('Chromium on examples/spa from npm packages', () => {
  let served: ServedExample

  beforeAll(async () => {
    served = await serveToChromium(inject('packedSpa'))
  })

  afterAll(async () => served?.close())

  test('starts the app and loads the chunk of every route', async () => {
    const { browser, manifest, url } = served
    const { page, complaints } = await openPage(browser)
    await page.goto(url.href)
    const headings = await visitLinks(page)
    expect(new Set(headings).size).toBe(headings.length)
    expect(headings.length).toBeGreaterThanOrEqual(6)
    await page.goto(new URL('species', url).href)
    await page.locator('main a[href^="/species/"]').first().click()
    await page.waitForURL(/\/species\/.+/)
    await page.goto(new URL('no/such/route', url).href, { waitUntil: 'networkidle' })
    expect(await page.locator('h1').innerText()).toBe('Not found')
    expect(complaints).toEqual([])

    const loaded = new Set(served.takeExchanges().map(({ target }) => target))
    const chunks = manifest.files.filter(({ path }) => /^assets\/.+\.(js|css|wasm)$/.test(path))
    const missing = chunks
      .map(({ path }) => urlOfFile(url, path).pathname)
      .filter((target) => !loaded.has(target))
    expect(missing).toEqual([])
    // A browser loads only those files of a web font whose characters are on the page.
    expect([...loaded].some((target) => target.endsWith('.woff2'))).toBe(true)
  })

  test('fetches nothing immutable at a reload, and revalidates the page with a 304', async () => {
    const { browser, manifest, url } = served
    const { page, complaints } = await openPage(browser)
    await page.goto(url.href)
    await visitLinks(page)
    await page.goto(url.href, { waitUntil: 'networkidle' })
    served.takeExchanges()
    await page.reload({ waitUntil: 'networkidle' })
    expect(complaints).toEqual([])

    const exchanges = served.takeExchanges()
    const immutable = new Set(
      manifest.files
        .filter(({ cache }) => cache === 'immutable')
        .map(({ path }) => urlOfFile(url, path).pathname),
    )
    expect(immutable.size).toBeGreaterThan(6)
    expect(exchanges.filter(({ target }) => immutable.has(target))).toEqual([])
    expect(exchanges.find(({ target }) => target === '/')).toMatchObject({
      status: 304,
      requestHeaders: { 'if-none-match': expect.stringMatching(/^"/) },
    })
    expect(exchanges.filter(({ status }) => status !== 304)).toEqual([])
  })

  test('gets the app for a deep link with a dot in it', async () => {
    const { browser, url } = served
    const { page, complaints } = await openPage(browser)
    const response = await page.goto(new URL('species/jane.doe', url).href, { waitUntil: 'networkidle' })
    expect([response?.status(), response?.headers()['content-type']]).toEqual([
      200,
      'text/html; charset=utf-8',
    ])
    expect(await page.locator('h1').first().innerText()).not.toBe('')
    expect(complaints).toEqual([])
  })

  test.each(['assets/nope-12345678.js', 'assets/nope', 'nope.js', 'nope.json'])(
    'gets a 404 with no-store for %s',
    async (unknown) => {
      const { browser, url } = served
      const { page } = await openPage(browser)
      await page.goto(url.href)
      const answer = await page.evaluate(async (address) => {
        const { status, headers } = await fetch(address)
        return [status, headers.get('cache-control')]
      }, new URL(unknown, url).href)
      expect(answer).toEqual([404, 'no-store'])
    },
  )

  test('gets a 404 for a navigation to an unknown asset', async () => {
    const { browser, url } = served
    const { page } = await openPage(browser)
    const response = await page.goto(new URL('assets/nope-12345678.js', url).href)
    expect([response?.status(), response?.headers()['cache-control']]).toEqual([404, 'no-store'])
  })

  test('gets the same as curl: the entry chunk in zstd, with ETag, Vary, Content-Length and immutable', async () => {
    const { url } = served
    const page = (await sendRequest(url)).body.toString()
    const entry = /<script type="module"[^>]* src="([^"]+)"/.exec(page)?.[1] ?? ''
    const headers = { 'accept-encoding': 'zstd, br, gzip' }
    const got = await sendRequest(new URL(entry, url), { headers })
    expect(got).toMatchObject({
      status: 200,
      headers: {
        'content-encoding': 'zstd',
        'content-length': String(got.body.length),
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'Accept-Encoding',
        etag: expect.stringMatching(/^"/),
      },
    })
    const again = await sendRequest(new URL(entry, url), {
      headers: { ...headers, 'if-none-match': got.headers.etag ?? '' },
    })
    expect([again.status, again.body.length]).toEqual([304, 0])
  })
})
