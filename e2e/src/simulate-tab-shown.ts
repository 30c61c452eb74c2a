import type { Page } from 'playwright'

/** Simulates that a tab was hidden and is visible again. Chromium without a window hides no tab. */
export async function simulateTabShown(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const isHidden of [true, false]) {
      Object.defineProperty(document, 'hidden', { configurable: true, value: isHidden })
      document.dispatchEvent(new Event('visibilitychange'))
    }
  })
}
