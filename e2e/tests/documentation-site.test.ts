import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import axe, { type AxeResults } from 'axe-core'
import type { Browser, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildExample } from '../src/build-example.ts'
import { chromiumPath, launchChromium } from '../src/launch-chromium.ts'
import { openPolicyWatchedPage, type PolicyWatchedPage } from '../src/open-policy-watched-page.ts'
import { readManifest } from '../src/read-manifest.ts'
import { sendRequest } from '../src/send-request.ts'
import { type RunningCommand, startCommand } from '../src/start-command.ts'

const documents = fileURLToPath(new URL('../../docs', import.meta.url))
const dist = path.join(documents, 'dist')

const sizes = [
  { device: 'a desktop', width: 1280, height: 800, colorScheme: 'light' },
  { device: 'a phone', width: 390, height: 844, colorScheme: 'dark' },
] as const

type Size = (typeof sizes)[number]

describe.skipIf(chromiumPath === undefined)('the documentation site', () => {
  let server: RunningCommand
  let browser: Browser

  beforeAll(async () => {
    const { command } = await buildExample('the documentation site', documents)
    server = await startCommand(command, { args: [dist, '--port', '0'], cwd: documents })
    browser = await launchChromium()
  })

  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  test.each(sizes)('finds a flag by search and opens its page on $device', async (size) => {
    const { page, complaints, violations } = await openSite('/', size)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('searchbox').fill('--memory-budget')
    await page.locator('.VPLocalSearchBox .result', { hasText: 'The command line' }).first().click()
    await page.waitForURL('**/cli#*')
    const flag = page.locator('li code', { hasText: '--memory-budget' })
    await flag.scrollIntoViewIfNeeded()
    expect(await flag.isVisible()).toBe(true)
    expect([complaints, violations]).toEqual([[], []])
  })

  test.each(sizes)('opens a page from the sidebar on $device', async (size) => {
    const { page, complaints, violations } = await openSite('/getting-started', size)
    if (size.device === 'a phone')
      await page.locator('.VPLocalNav').getByRole('button', { name: 'Menu' }).click()
    await page.locator('.VPSidebar').getByRole('link', { name: 'Errors', exact: true }).click()
    await page.waitForURL('**/errors')
    await expect.poll(() => page.locator('h1').innerText()).toContain('Errors')
    expect([complaints, violations]).toEqual([[], []])
  })

  test('keeps the dark mode from page to page', async () => {
    const { page, complaints, violations } = await openSite('/cli', sizes[0])
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const light = await background()
    await page.getByRole('switch').first().click()
    await expect.poll(background).not.toBe(light)
    await page.goto(new URL('/errors', server.url).href)
    expect(await background()).not.toBe(light)
    expect([complaints, violations]).toEqual([[], []])
  })

  test.each(['/', '/cli', '/getting-started', '/nowhere'])(
    'has no serious accessibility problem on %s',
    async (target) => {
      for (const size of sizes) {
        const { page, violations } = await openSite(target, size)
        expect.soft([await findBarriers(page), violations], size.device).toEqual([[], []])
      }
    },
  )

  test('opens every page outside the decisions without an error in the console', async () => {
    const { files } = await readManifest(dist)
    const { page, complaints, violations } = await openPolicyWatchedPage(browser)
    const pages = files.filter((file) => /^(?!404|decisions\/).*\.html$/.test(file.path))
    for (const file of pages) {
      const target = `/${file.path.replace(/(?:(^|\/)index)?\.html$/, '$1')}`
      const response = await page.goto(new URL(target, server.url).href)
      expect.soft([target, response?.status(), complaints, violations]).toEqual([target, 200, [], []])
    }
  })

  test('answers an unknown path with its own page and status 404', async () => {
    const { page, violations } = await openPolicyWatchedPage(browser)
    const response = await page.goto(new URL('/nowhere', server.url).href)
    expect(response?.status()).toBe(404)
    await expect.poll(() => page.locator('main, .NotFound').innerText()).toContain('Page not found')
    expect(violations).toEqual([])
  })

  test('has an anchor for each error code', async () => {
    const codes =
      (await readFile(path.join(documents, 'errors.md'), 'utf8')).match(/(?<=^### )SD_\w+$/gm) ?? []
    expect(codes.length).toBeGreaterThan(10)
    const { body } = await sendRequest(new URL('/errors', server.url))
    expect(codes.filter((code) => !body.toString().includes(`id="${code.toLowerCase()}"`))).toEqual([])
  })

  test('sends a policy without unsafe sources', async () => {
    const { headers } = await sendRequest(new URL('/errors', server.url))
    expect(headers['content-security-policy']).toMatch(/script-src 'self' 'sha256-/)
    expect(headers['content-security-policy']).not.toContain('unsafe')
  })

  async function openSite(target: string, { width, height, colorScheme }: Size): Promise<PolicyWatchedPage> {
    const opened = await openPolicyWatchedPage(browser)
    await opened.page.setViewportSize({ width, height })
    await opened.page.emulateMedia({ colorScheme })
    await opened.page.goto(new URL(target, server.url).href)
    // A click on a page that Vue has not mounted yet does nothing.
    const isMounted = (): Promise<boolean> =>
      opened.page.evaluate(() => '__vue_app__' in (document.querySelector('#app') ?? {}))
    await expect.poll(isMounted).toBe(true)
    return opened
  }
})

/** The violations of accessibility rules that axe calls serious or critical, with the elements that have them. */
async function findBarriers(page: Page): Promise<string[]> {
  // A <script> element would need a policy that allows it.
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<AxeResults>('axe.run()')
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    )
}
