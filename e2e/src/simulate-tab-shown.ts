import type { Page } from 'playwright'

/** Tells a page that its tab was hidden and is visible again: without a window, Chromium hides none. */
export async function simulateTabShown(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const isHidden of [true, false]) {
      Object.defineProperty(document, 'hidden', { configurable: true, value: isHidden })
      document.dispatchEvent(new Event('visibilitychange'))
    }
  })
}
