import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { chromiumPath } from '../src/launch-chromium.ts'
import { openPage } from '../src/open-page.ts'
import { type ServedExample, serveToChromium } from '../src/serve-to-chromium.ts'
import { urlOfFile } from '../src/url-of-file.ts'

describe.skipIf(chromiumPath === undefined)('Chromium on examples/editor', () => {
  let served: ServedExample

  beforeAll(async () => {
    const example = inject('examples').find(({ name }) => name === 'editor')
    if (example === undefined) throw new Error('examples/editor is not built')
    served = await serveToChromium(example)
  })

  afterAll(async () => served?.close())

  test('starts the editor and its workers, each in zstd', async () => {
    const { page, complaints } = await openPage(served.browser)
    await page.goto(served.url.href)
    await page.locator('body[data-ready="true"]').waitFor({ timeout: 60_000 })
    await page.waitForLoadState('networkidle')
    expect(page.workers().length).toBeGreaterThan(0)
    expect(complaints).toEqual([])

    const workers = served.takeExchanges().filter(({ target }) => /worker/.test(target))
    expect(workers.length).toBeGreaterThan(0)
    for (const { target, status, responseHeaders } of workers) {
      expect.soft([status, responseHeaders['content-encoding']], target).toEqual([200, 'zstd'])
    }
  })

  test('revalidates the page at a reload, and fetches none of its ten megabytes', async () => {
    const { page, complaints } = await openPage(served.browser)
    await page.goto(served.url.href)
    await page.locator('body[data-ready="true"]').waitFor({ timeout: 60_000 })
    await page.waitForLoadState('networkidle')
    served.takeExchanges()
    await page.reload()
    await page.locator('body[data-ready="true"]').waitFor({ timeout: 60_000 })
    await page.waitForLoadState('networkidle')
    expect(complaints).toEqual([])

    const exchanges = served.takeExchanges()
    const immutable = new Set(
      served.manifest.files
        .filter(({ cache }) => cache === 'immutable')
        .map(({ path }) => urlOfFile(served.url, path).pathname),
    )
    expect(exchanges.filter(({ target }) => immutable.has(target))).toEqual([])
    expect(exchanges.find(({ target }) => target === '/')).toMatchObject({ status: 304 })
  })
})
