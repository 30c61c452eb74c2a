import type { Browser, Page } from 'playwright'
import { onTestFinished } from 'vitest'

export interface OpenedPage {
  readonly page: Page
  /** Errors in the console, uncaught exceptions and failed requests up to now. */
  readonly complaints: readonly string[]
}

/** Opens a page with an empty cache for the running test. `acceptEncoding` replaces Chromium's own value. */
export async function openPage(browser: Browser, acceptEncoding?: string): Promise<OpenedPage> {
  const context = await browser.newContext(
    acceptEncoding === undefined ? {} : { extraHTTPHeaders: { 'Accept-Encoding': acceptEncoding } },
  )
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`))
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? ''
    // Chromium aborts some requests, such as an icon that still loads when the page is left.
    if (reason !== 'net::ERR_ABORTED') complaints.push(`failed: ${request.url()} ${reason}`)
  })
  return { page, complaints }
}
