import type { Page } from 'playwright'

/** Fetches a URL in the page. Returns the SHA-256 of the decoded body in hexadecimal. */
export function digestInPage(page: Page, url: URL, cache: RequestCache = 'default'): Promise<string> {
  const asked = [url.href, { cache, mode: 'same-origin' }] as const
  return page.evaluate(async ([address, options]) => {
    const response = await fetch(address, options)
    const digest = await crypto.subtle.digest('SHA-256', await response.arrayBuffer())
    return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
  }, asked)
}
