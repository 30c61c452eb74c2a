import type { Dictionary } from '@serve-dist/manifest'
import type { Browser, Page } from 'playwright'
import { vi } from 'vitest'
import { digestInPage } from './digest-in-page.ts'
import { openPage } from './open-page.ts'
import { visitLinks } from './visit-links.ts'

/** The facts of Resource Timing about one response. */
interface Loaded {
  readonly contentEncoding: string
  readonly encodedBodySize: number
  readonly transferSize: number
}

export interface Visit {
  /** The first load of each path. */
  readonly files: ReadonlyMap<string, Loaded>
  /** The bytes of heads and bodies. Responses from the cache count as 0. */
  readonly transferSize: number
  /** The protocols of responses (RFC 7301). */
  readonly protocols: ReadonlySet<string>
  /** Errors of the page. */
  readonly complaints: readonly string[]
}

/** A browser user with a separate cache and several visits. */
export interface ReturningVisitor {
  /** Loads examples/spa and opens each of its pages. */
  visit(): Promise<Visit>
  /**
   * Waits until the browser offers these files as dictionaries, which happens some time after it has loaded
   * them.
   */
  waitUntilOffered(dictionaries: readonly Dictionary[]): Promise<void>
  /** Returns the SHA-256 of the decoded body in the browser's cache. */
  digestOf(path: string): Promise<string>
}

/** Opens a browser for a new user of examples/spa at a URL, for the running test. */
export async function openReturningVisitor(browser: Browser, url: URL): Promise<ReturningVisitor> {
  const { page, complaints } = await openPage(browser)
  return {
    async visit() {
      const before = complaints.length
      await page.goto(url.href)
      await visitLinks(page)
      await page.locator('nav a[href="/species"]').click()
      await page.locator('main a[href^="/species/"]').first().click()
      await page.locator('main[data-route="species-detail"]').waitFor()
      const loaded = await loadedBy(page)
      await page.goto(new URL('no/such/page', url).href)
      await page.locator('main[data-route="not-found"]').waitFor()
      loaded.push(...(await loadedBy(page)))
      return {
        files: new Map(loaded.toReversed().map((each) => [each.path, each])),
        transferSize: loaded.reduce((sum, each) => sum + each.transferSize, 0),
        protocols: new Set(loaded.map(({ protocol }) => protocol).filter((name) => name !== '')),
        complaints: complaints.slice(before),
      }
    },
    async waitUntilOffered(dictionaries) {
      for (const dictionary of dictionaries) await waitUntilOffered(page, url, dictionary)
    },
    digestOf: (path) => digestInPage(page, new URL(path, url), 'only-if-cached'),
  }
}

async function loadedBy(page: Page): Promise<(Loaded & { path: string; protocol: string })[]> {
  await page.waitForLoadState('networkidle')
  return page.evaluate(() =>
    performance
      .getEntries()
      .filter((entry) => entry instanceof PerformanceResourceTiming)
      .map((entry) => ({
        path: new URL(entry.name).pathname.slice(1),
        contentEncoding: 'contentEncoding' in entry ? String(entry.contentEncoding) : '',
        protocol: entry.nextHopProtocol,
        encodedBodySize: entry.encodedBodySize,
        transferSize: entry.transferSize,
      })),
  )
}

/** Requests each file with a query: its pattern still matches, but the cache has no response. */
async function waitUntilOffered(page: Page, base: URL, { file, destinations }: Dictionary): Promise<void> {
  let tries = 0
  await vi.waitFor(
    async () => {
      const url = new URL(`${file.path}?try=${(tries += 1)}`, base).href
      const answered = page.waitForResponse(url)
      await page.evaluate(requestAs, { url, destination: destinations[0] })
      const headers = await (await answered).request().allHeaders()
      if (headers['available-dictionary'] === undefined) throw new Error(`${file.path} is not offered`)
    },
    { timeout: 10_000, interval: 100 },
  )
}

function requestAs({ url, destination }: { url: string; destination: string | undefined }): void {
  if (destination === undefined) {
    void fetch(url)
    return
  }
  const link = Object.assign(document.createElement('link'), { rel: 'preload', as: destination, href: url })
  document.head.append(link)
}
