import type { Page } from 'playwright'

/**
 * Clicks every link of the page's navigation in order. Returns the headings of the pages. A navigation ends
 * when its link has `aria-current`.
 */
export async function visitLinks(page: Page): Promise<string[]> {
  const links = page.locator('nav a')
  await links.first().waitFor()
  const addresses = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
  const headings: string[] = []
  for (const address of addresses) {
    await page.locator(`nav a[href="${address}"]`).click()
    await page.locator(`nav a[href="${address}"][aria-current="page"]`).waitFor()
    headings.push(await page.locator('h1').innerText())
  }
  await page.waitForLoadState('networkidle')
  return headings
}
