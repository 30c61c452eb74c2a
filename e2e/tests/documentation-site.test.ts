import path from 'node:path'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { buildExample } from '../src/build-example.ts'
import { chromiumPath, launchChromium } from '../src/launch-chromium.ts'
import { type GuardedPage, openGuardedPage } from '../src/open-guarded-page.ts'
import { readManifest } from '../src/read-manifest.ts'
import { sendRequest } from '../src/send-request.ts'
import { type RunningCommand, startCommand } from '../src/start-command.ts'

const documents = fileURLToPath(new URL('../../docs', import.meta.url))
const folder = path.join(documents, '.vitepress/dist')

const sizes = [
  { device: 'a desktop', width: 1280, height: 800 },
  { device: 'a phone', width: 390, height: 844 },
] as const

type Size = (typeof sizes)[number]

describe.skipIf(chromiumPath === undefined)('the documentation site', () => {
  let server: RunningCommand
  let browser: Browser

  beforeAll(async () => {
    const { command } = await buildExample('the documentation site', documents)
    server = await startCommand(command, { args: [folder, '--port', '0'], cwd: documents })
    browser = await launchChromium()
  })

  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  test.each(sizes)('search finds a flag, and a click leads to it, on $device', async (size) => {
    const { page } = await openSite('/', size)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('searchbox').fill('--memory-budget')
    await page.locator('.VPLocalSearchBox .result', { hasText: 'The command line' }).first().click()
    await page.waitForURL('**/cli#*')
    const flag = page.locator('li code', { hasText: '--memory-budget' })
    await flag.scrollIntoViewIfNeeded()
    expect(await flag.isVisible()).toBe(true)
  })

  test.each(sizes)('a menu leads from page to page on $device', async (size) => {
    const { page } = await openSite('/getting-started', size)
    if (size.device === 'a phone') await page.getByRole('button', { name: 'Menu' }).click()
    await page.locator('.VPSidebar').getByRole('link', { name: 'Errors', exact: true }).click()
    await page.waitForURL('**/errors')
    await expect.poll(() => page.locator('h1').innerText()).toContain('Errors')
  })

  test('a switch makes each page dark', async () => {
    const { page } = await openSite('/cli', sizes[0])
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const light = await background()
    await page.getByRole('switch').first().click()
    await expect.poll(background).not.toBe(light)
    await page.goto(new URL('/errors', server.url).href)
    expect(await background()).not.toBe(light)
  })

  test.each(sizes.flatMap((size) => ['/', '/cli', '/http', '/plugin-options', '/nowhere'].map((target) => ({ ...size, target }))))(
    'axe finds nothing serious on $target on $device, light or dark',
    async ({ target, ...size }) => {
      const { page } = await openSite(target, size)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await findBarriers(page)).toEqual([])
      }
    },
  )

  test('every page opens without a complaint', async () => {
    const { files } = await readManifest(folder)
    const { page, complaints, violations } = await openGuardedPage(browser)
    for (const file of files.filter((each) => each.path.endsWith('.html') && each.path !== '404.html')) {
      const target = `/${file.path.replace(/(?:(^|\/)index)?\.html$/, '$1')}`
      const response = await page.goto(new URL(target, server.url).href)
      expect.soft([target, response?.status(), complaints, violations]).toEqual([target, 200, [], []])
    }
  })

  test('an unknown path gets the page for it, with status 404', async () => {
    const { page, violations } = await openGuardedPage(browser)
    const response = await page.goto(new URL('/nowhere', server.url).href)
    expect(response?.status()).toBe(404)
    await expect.poll(() => page.locator('main, .NotFound').innerText()).toContain('PAGE NOT FOUND')
    expect(violations).toEqual([])
  })

  test('each page has a policy without unsafe sources', async () => {
    const { headers } = await sendRequest(new URL('/errors', server.url))
    expect(headers['content-security-policy']).toMatch(/script-src 'self' 'sha256-/)
    expect(headers['content-security-policy']).not.toContain('unsafe')
  })

  /** Opens a page in a window of this size, and expects no complaint and no violation until the test ends. */
  async function openSite(target: string, { width, height }: Size): Promise<GuardedPage> {
    const opened = await openGuardedPage(browser)
    await opened.page.setViewportSize({ width, height })
    await opened.page.goto(new URL(target, server.url).href)
    // Chromium writes the status of a page that does not exist into the console.
    const expected = target === '/nowhere' ? [expect.stringContaining('status of 404')] : []
    onTestFinished(() => {
      expect([opened.violations, opened.complaints]).toEqual([[], expected])
    })
    return opened
  }
})

/** The violations of accessibility rules that axe calls serious or critical, with the elements that have them. */
async function findBarriers(page: Page): Promise<string[]> {
  // A <script> element would need a policy that allows it.
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run())
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`))
}
