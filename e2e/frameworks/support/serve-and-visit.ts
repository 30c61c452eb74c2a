import type { Page } from 'playwright'
import { expect } from 'vitest'
import { launchChromium } from '../../src/launch-chromium.ts'
import { openPage } from '../../src/open-page.ts'
import { type ReceivedResponse, sendRequest } from '../../src/send-request.ts'
import { startCommand } from '../../src/start-command.ts'
import type { FrameworkProject } from './framework-project.ts'

export interface Visit {
  readonly project: FrameworkProject
  /** Arguments of the command, such as `['dist/client', '--ssr', 'dist/server/entry.mjs']`. */
  readonly args: readonly string[]
  /** The text of each page's `h1`, by the `href` of its link in `nav a`: `{ '/about': 'About' }`. */
  readonly pages: Readonly<Record<string, string>>
  /** The paths of pages that an application renders. */
  readonly rendered?: readonly string[]
  /** A path without a page, and the `h1` of the framework's 404 page. The browser does not open it. */
  readonly notFound: { readonly path: string; readonly heading: string; readonly status?: number }
  /** Matches the application's own output on standard error. */
  readonly applicationLog?: RegExp
  /**
   * The value of `--csp`.
   *
   * @default 'enforce'
   */
  readonly csp?: string
  /** Whether a click on a link changes the page without loading a document. */
  readonly isClientRouted: boolean
}

/**
 * Serves a build with the command. Requests each page by its clean URL, and a missing one. Lets Chromium open
 * each page and follow its links, and load the image and the chunk of the first page.
 *
 * Every example has the same structure: `nav a` and one `h1` on each page. The first page has an `img`, and a
 * `button` that imports a chunk and writes into `output`.
 */
export async function serveAndVisit(visit: Visit): Promise<void> {
  const { project, args, csp = 'enforce' } = visit
  const server = await startCommand(project.command, {
    args: [...args, '--csp', csp, '--port', '0'],
    cwd: project.folder,
  })
  try {
    await expectPages(server.url, visit)
    const browser = await launchChromium()
    try {
      const { page, complaints } = await openPage(browser)
      await visitPages(page, server.url, visit)
      expect(complaints).toEqual([])
    } finally {
      await browser.close()
    }
  } finally {
    const { errors } = await server.stop()
    expect(errors.replaceAll(visit.applicationLog ?? /^$/g, '')).toBe('')
  }
}

async function expectPages(url: URL, { pages, rendered = [], notFound }: Visit): Promise<void> {
  const accept = 'text/html'
  for (const [target, heading] of Object.entries(pages)) {
    const page = await askForPage(new URL(target, url), {
      accept,
      ...(!rendered.includes(target) && { 'accept-encoding': 'br' }),
    })
    expect.soft(page, target).toMatchObject({
      status: 200,
      headers: { 'content-type': expect.stringMatching(/^text\/html/) },
    })
    if (rendered.includes(target)) expect.soft(page.body.toString(), target).toContain(heading)
    else
      expect
        .soft(page.headers, target)
        .toMatchObject({ 'content-encoding': 'br', 'cache-control': 'no-cache' })
  }
  const missing = await sendRequest(new URL(notFound.path, url), { headers: { accept } })
  expect.soft(missing).toMatchObject({ status: notFound.status ?? 404 })
  expect.soft(missing.body.toString()).toContain(notFound.heading)
  expect.soft((await sendRequest(new URL('/missing.js', url))).status).toBe(404)
}

/** Requests a page. Follows the redirect that adds a slash to the path of a folder. */
async function askForPage(url: URL, headers: Readonly<Record<string, string>>): Promise<ReceivedResponse> {
  const answer = await sendRequest(url, { headers })
  if (answer.status !== 308 || answer.headers.location !== `${url.pathname}/`) return answer
  return await sendRequest(new URL(answer.headers.location, url), { headers })
}

async function visitPages(page: Page, url: URL, { pages, isClientRouted }: Visit): Promise<void> {
  const [first = '/'] = Object.keys(pages)
  for (const start of Object.keys(pages)) {
    await page.goto(new URL(start, url).href, { waitUntil: 'networkidle' })
    expect(await page.locator('h1').innerText()).toContain(pages[start])
    await page.evaluate(() => Reflect.set(globalThis, 'isSameDocument', true))
    for (const [target, heading] of Object.entries(pages)) {
      if (target === start) continue
      await page.locator(`nav a[href="${target}"]`).click()
      await page.locator('h1', { hasText: heading }).waitFor()
      expect(new URL(page.url()).pathname).toBe(target)
      const isSame = await page.evaluate(() => Reflect.get(globalThis, 'isSameDocument') === true)
      expect(isSame, `${start} → ${target} without a new document`).toBe(isClientRouted)
    }
  }
  await page.goto(new URL(first, url).href, { waitUntil: 'networkidle' })
  const widths = await page
    .locator('img')
    .evaluateAll((all) => all.map((image) => Reflect.get(image, 'naturalWidth')))
  expect(widths.length).toBeGreaterThan(0)
  expect(widths.every((width) => width > 0)).toBe(true)
  expect(await page.locator('output').innerText()).toBe('')
  await page.locator('button#lazy').click()
  await page.locator('output:not(:empty)').waitFor()
}
