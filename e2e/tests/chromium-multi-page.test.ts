import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { chromiumPath } from '../src/launch-chromium.ts'
import { openPage } from '../src/open-page.ts'
import { sendRequest } from '../src/send-request.ts'
import { type ServedExample, serveToChromium } from '../src/serve-to-chromium.ts'
import { visitLinks } from '../src/visit-links.ts'

describe.skipIf(chromiumPath === undefined)('Chromium on examples/multi-page', () => {
  let served: ServedExample

  beforeAll(async () => {
    const example = inject('examples').find(({ name }) => name === 'multi-page')
    if (example === undefined) throw new Error('examples/multi-page is not built')
    served = await serveToChromium(example)
  })

  afterAll(async () => served?.close())

  test('follows every link of the navigation, under the base', async () => {
    expect(served.url.pathname).toBe('/docs/')
    const { page, complaints } = await openPage(served.browser)
    await page.goto(served.url.href)
    const headings = await visitLinks(page)
    expect(headings.length).toBeGreaterThanOrEqual(3)
    expect(complaints).toEqual([])
    expect(served.takeExchanges().filter(({ status }) => status >= 400)).toEqual([])
  })

  test('opens every page of the build at its own address', async () => {
    const pages = served.manifest.files.filter(({ path }) => path.endsWith('.html') && path !== '404.html')
    expect(pages.some(({ path }) => path.split('/').length > 2)).toBe(true)
    for (const { path } of pages) {
      const { page, complaints } = await openPage(served.browser)
      const address = new URL(path.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, ''), served.url)
      const response = await page.goto(address.href, { waitUntil: 'networkidle' })
      expect.soft([response?.status(), page.url()], path).toEqual([200, address.href])
      expect.soft(complaints, path).toEqual([])
    }
  })

  test('redirects the base without its slash to the base', async () => {
    const withoutSlash = new URL('/docs?q=1', served.url)
    expect(await sendRequest(withoutSlash)).toMatchObject({
      status: 308,
      headers: { location: '/docs/?q=1', 'cache-control': 'no-cache' },
    })
    const { page } = await openPage(served.browser)
    await page.goto(withoutSlash.href)
    expect(page.url()).toBe(new URL('?q=1', served.url).href)
  })

  test.each(['nowhere', 'nowhere/', 'guide/nowhere', 'nowhere.html'])(
    "gets the build's 404.html with status 404 for an unknown page (%s)",
    async (unknown) => {
      const { page } = await openPage(served.browser)
      const response = await page.goto(new URL(unknown, served.url).href)
      expect([response?.status(), response?.headers()['cache-control']]).toEqual([404, 'no-store'])
      const notFound = await page.locator('h1').first().innerText()
      await page.goto(new URL('404.html', served.url).href)
      expect(notFound).toBe(await page.locator('h1').first().innerText())
    },
  )

  test('gets 404 for a path outside of the base', async () => {
    expect((await sendRequest(new URL('/index.html', served.url))).status).toBe(404)
  })
})
