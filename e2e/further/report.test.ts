import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Manifest, stringifyManifest } from '@serve-dist/manifest'
import { createReport, type CreateReportOptions, formatHtml, readPageAssets } from '@serve-dist/report'
import type { Browser, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { chromiumPath, launchChromium } from '../src/launch-chromium.ts'
import { readManifest } from '../src/read-manifest.ts'
import { runToEnd } from '../src/start-command.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'

const digest = '0123456789abcdef'.repeat(4)
const time = '2026-01-31T12:00:00Z'

/** Returns a build of files that need not exist: `[path, size, size in br]`. */
function makeBuild(...files: readonly (readonly [path: string, size: number, br?: number])[]): Manifest {
  return {
    version: 1,
    buildId: digest,
    base: '/',
    appType: 'spa',
    assetsDirectory: 'assets',
    lastModified: time,
    files: files.map(([filePath, size, br], index) => ({
      path: filePath,
      mediaType: filePath.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/html; charset=utf-8',
      size,
      sha256: `${index}${size}`.padEnd(64, '0'),
      cache: filePath.startsWith('assets/') ? 'immutable' : 'revalidate',
      lastModified: time,
      variants: br === undefined ? [] : [{ coding: 'br', size: br, sha256: digest }],
    })),
  }
}

const before = makeBuild(
  ['assets/index-AAAA1111.js', 40_000, 12_000],
  ['assets/old-AAAA2222.js', 900],
  ['assets/vendor-AAAA3333.js', 400_000, 120_000],
  ['index.html', 9000],
)
const after = makeBuild(
  ['assets/deep/nested/page-BBBB4444.js', 30_000, 9000],
  ['assets/index-BBBB1111.js', 44_000, 13_500],
  ['assets/vendor-BBBB3333.js', 380_000, 110_000],
  ['index.html', 9000],
)

interface OpenedReport {
  readonly page: Page
  /** The requested URLs. */
  readonly requests: readonly string[]
  readonly complaints: readonly string[]
}

/** Returns the share of each box in the treemap, by name. */
function sharesOf(page: Page): Promise<Record<string, number>> {
  return page.evaluate(() => {
    const stage = document.getElementById('treemap')?.getBoundingClientRect() ?? new DOMRect()
    const boxes = [...document.querySelectorAll('.box')].map((box) => {
      const { width, height } = box.getBoundingClientRect()
      const name = box.getAttribute('aria-label')?.split(',')[0] ?? ''
      return [name, (width * height) / (stage.width * stage.height)]
    })
    return Object.fromEntries(boxes)
  })
}

function focusedLabel(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '')
}

describe('serve-dist report', () => {
  test('writes its formats, and fails with exit code 1 if a budget is exceeded', async () => {
    const example = inject('examples').find(({ name }) => name === 'spa')
    if (example === undefined) throw new Error('the example spa was not built')
    const folder = await temporaryFolder()
    const earlier = path.join(folder, 'manifest.json')
    const manifest = await readManifest(example.dist)
    await writeFile(earlier, stringifyManifest({ ...manifest, files: manifest.files.slice(1) }))
    const run = (...args: readonly string[]) =>
      runToEnd(example.command, { args: ['report', ...args], cwd: example.project })

    const table = await run()
    expect(table).toMatchObject({ exitCode: 0, errors: '' })
    expect(table.output).toMatch(/assets\/vendor-[\w-]{8}\.js +[\d.]+ kB/)
    const markdown = await run('dist', '--against', earlier, '--format', 'markdown')
    expect(markdown.output).toContain(`🆕 new <code>${manifest.files[0]?.path}</code>`)
    const output = path.join(folder, 'report.html')
    const html = await run('--format', 'html', '--output', output, '--budget', 'total=1kb')
    expect(html).toMatchObject({ exitCode: 1, output: '' })
    expect(html.errors).toContain('budget total=1kb: ')
    expect(await readFile(output, 'utf8')).toContain('<!doctype html>')
    const wrong = await run('--budget', 'total', '--budget', 'x=y')
    expect(wrong).toMatchObject({ exitCode: 1, output: '' })
    expect(wrong.errors.split('\n')).toHaveLength(3)
  })
})

/** Returns the visible sizes whose number and unit are on two lines. */
function findBrokenSizes(): string[] {
  const broken: string[] = []
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    if (!(text instanceof Text) || text.parentElement?.closest('script')) continue
    for (const { index, 0: size } of text.data.matchAll(/\d\s(?:[kM]?B|%)/g)) {
      const range = document.createRange()
      range.setStart(text, index)
      range.setEnd(text, index + size.length)
      const lines = new Set([...range.getClientRects()].map(({ bottom }) => bottom))
      if (lines.size > 1) broken.push(text.data)
    }
  }
  return broken
}

describe.skipIf(chromiumPath === undefined)('the HTML report in Chromium', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launchChromium()
  })
  afterAll(() => browser.close())

  /** Opens a report from the disk, offline. */
  async function openReport(
    build: Manifest,
    options: CreateReportOptions & { readonly colorScheme?: 'light' | 'dark' } = {},
  ): Promise<OpenedReport> {
    const { colorScheme = 'light', ...given } = options
    const file = path.join(await temporaryFolder(), 'report.html')
    await writeFile(file, formatHtml(createReport(build, given), await readPageAssets()))
    const context = await browser.newContext({
      colorScheme,
      offline: true,
      viewport: { width: 1200, height: 900 },
    })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const requests: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('dialog', (dialog) => complaints.push(dialog.message()))
    await page.goto(pathToFileURL(file).href)
    await page.locator('.box').first().waitFor()
    return { page, requests, complaints }
  }

  test.each(['light', 'dark'] as const)('opens from the disk without network, in %s', async (colorScheme) => {
    const { page, requests, complaints } = await openReport(after, { against: before, colorScheme })
    expect(requests).toEqual([page.url()])
    expect(complaints).toEqual([])
    const brightness = await page.evaluate(() => {
      const parts = getComputedStyle(document.body).backgroundColor.match(/\d+/g) ?? []
      return parts.reduce((sum, part) => sum + Number(part), 0)
    })
    expect(brightness > 380).toBe(colorScheme === 'light')
  })

  test('shows sizes in the selected coding', async () => {
    const build = makeBuild(['a.js', 1000, 900], ['b.js', 1000, 100])
    const { page } = await openReport(build)
    const sent = await sharesOf(page)
    expect(sent['a.js']).toBeCloseTo(0.9, 2)
    await page.getByRole('radio', { name: /^size/ }).check({ force: true })
    const identity = await sharesOf(page)
    expect(identity['a.js']).toBeCloseTo(0.5, 2)
  })

  test('works with the keyboard: arrows move, Enter opens, Escape goes back', async () => {
    const { page, complaints } = await openReport(after, { against: before })
    await page.locator('input[name="column"]:checked').focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    expect(await focusedLabel(page)).toMatch(/^assets\/, 132\.50 kB sent, .+ folder of 3, Enter opens it$/)
    expect(await page.locator('.box[tabindex="0"]').count()).toBe(1)
    await page.keyboard.press('ArrowDown')
    expect(await focusedLabel(page)).toMatch(
      /^assets\/vendor-HASH\.js, 110\.00 kB sent, -10\.00 kB \(-8\.3 %\), js$/,
    )
    const ring = await page.evaluate(() => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement ?? document.body)
      return `${outlineWidth} ${outlineStyle}`
    })
    expect(ring).toBe('3px solid')

    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    expect(await page.getByRole('status').textContent()).toBe('Showing assets/, 132.50 kB')
    expect(await page.locator('#trail').textContent()).toBe('whole buildassets')
    expect(await focusedLabel(page)).toMatch(/^assets\/vendor-HASH\.js/)
    expect(Object.keys(await sharesOf(page))).not.toContain('index.html')
    await page.keyboard.press('Escape')
    expect(await page.getByRole('status').textContent()).toBe('Showing the whole build, 141.50 kB')
    expect(await focusedLabel(page)).toMatch(/^assets\/, /)
    await page.keyboard.press('Escape')
    expect(await focusedLabel(page)).toMatch(/^assets\/, /)
    expect(complaints).toEqual([])
  })

  test('opens a nested folder, and returns with its breadcrumbs', async () => {
    const { page } = await openReport(makeBuild(['a/b/c/d.js', 500], ['a/b/e.js', 400], ['f.js', 600]))
    await page.getByRole('button', { name: /^a\/b\/c\/, / }).click({ position: { x: 5, y: 5 } })
    expect(await page.locator('#trail').textContent()).toBe('whole buildabc')
    await page.locator('#trail').getByRole('button', { name: 'a', exact: true }).click()
    expect(await page.locator('#trail').textContent()).toBe('whole builda')
    expect(await focusedLabel(page)).toMatch(/^a\/b\/, /)
  })

  test('highlights changes not only by colour, and lists them in a table', async () => {
    const { page } = await openReport(after, { against: before })
    const box = (name: string) => page.locator(`.box[aria-label^="${name}"]`)
    expect(await box('assets/index-HASH.js').getAttribute('data-verdict')).toBe('larger')
    expect(await box('assets/vendor-HASH.js').innerText()).toMatch(/▼ -10\.00 kB \(-8\.3 %\)/)
    expect(await box('assets/deep/nested/page-BBBB4444.js').getAttribute('data-state')).toBe('new')
    const fill = (name: string) => box(name).evaluate((element) => getComputedStyle(element).backgroundColor)
    const [larger, smaller, same] = await Promise.all(
      ['assets/index-HASH.js', 'assets/vendor-HASH.js', 'index.html'].map(fill),
    )
    expect(new Set([larger, smaller, same]).size).toBe(3)
    const rows = await page.getByRole('row').allInnerTexts()
    expect(rows.find((row) => row.startsWith('assets/old-AAAA2222.js'))).toMatch(
      /removed\s+js\s+0\.00\skB\s+▼\s-900\sB/,
    )
    await page.getByRole('radio', { name: 'by kind' }).check({ force: true })
    expect(await fill('assets/index-HASH.js')).toBe(await fill('assets/vendor-HASH.js'))
  })

  test('shows the downloads of a returning visitor: marks deltas, and omits unchanged files', async () => {
    const changes = [
      { path: 'assets/vendor-BBBB3333.js', bytes: 110_000, delta: 9000, coding: 'dcz' } as const,
      { path: 'assets/deep/nested/page-BBBB4444.js', bytes: 9000 },
    ]
    const download = { files: 2, bytes: 119_000, bytesWithDeltas: 18_000, changes }
    const { page, complaints } = await openReport(after, { against: before, download })
    const legends = page.locator('.legend:visible')
    expect(await legends.innerText()).toMatch(/^▲ larger/)
    await page.locator('input[name="column"]:checked').focus()
    await page.keyboard.press('ArrowRight')
    expect(await legends.innerText()).toMatch(/^▼ a delta\s*new\s*in full/)

    const shares = await sharesOf(page)
    expect(Object.keys(shares)).not.toContain('index.html')
    expect(Object.keys(shares)).not.toContain('assets/index-HASH.js')
    expect(shares['assets/']).toBeCloseTo(1, 2)
    const boxes = page.locator('.box')
    expect(await boxes.evaluateAll((all) => all.map((box) => box.getAttribute('aria-label')))).toEqual([
      'assets/, 18.00 kB returning visitor, of 119.00 kB, folder of 2, Enter opens it',
      'assets/vendor-HASH.js, 9.00 kB returning visitor, of 110.00 kB, js',
      'assets/deep/, 9.00 kB returning visitor, folder of 1, Enter opens it',
      'assets/deep/nested/, 9.00 kB returning visitor, folder of 1, Enter opens it',
      'assets/deep/nested/page-BBBB4444.js, 9.00 kB returning visitor, new, js',
    ])
    expect(await boxes.nth(1).innerText()).toMatch(/▼ of 110\.00 kB$/)
    const rows = await page.getByRole('row').allInnerTexts()
    expect(rows.find((row) => row.startsWith('index.html'))).toMatch(/\s0\sB$/)
    await page.getByRole('radio', { name: 'by kind' }).check({ force: true })
    expect(await legends.innerText()).toMatch(/^js/)
    expect(complaints).toEqual([])
  })

  test('breaks and truncates no size at 390 pixels, with long names', async () => {
    const name = `${'a-long-folder-name/'.repeat(3)}${'NameOfAComponent'.repeat(8)}`
    const { page } = await openReport(
      makeBuild([`${name}-BBBB1111.js`, 3_940_000, 1_500_000], [`${'x'.repeat(200)}.js`, 400_000, 123_456]),
      { against: makeBuild([`${name}-AAAA1111.js`, 3_440_000, 1_200_000]) },
    )
    await page.setViewportSize({ width: 390, height: 844 })
    await expect
      .poll(() => page.locator('#treemap').evaluate(({ clientWidth }) => clientWidth))
      .toBeLessThan(390)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    expect(await page.evaluate(findBrokenSizes)).toEqual([])
    const sizes = page.locator('.box-size, .box-change')
    await expect
      .poll(() =>
        sizes.evaluateAll((all) =>
          all
            .filter(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth)
            .map((size) => size.textContent),
        ),
      )
      .toEqual([])
    expect(await sizes.count()).toBeGreaterThan(4)
    const cell = await page.locator('tbody td:nth-child(3)').first().boundingBox()
    expect((cell?.x ?? 390) + (cell?.width ?? 0)).toBeLessThanOrEqual(390)
  })

  test('shows the files of a folder that has the focus', async () => {
    const { page } = await openReport(after)
    await page.locator('.box[data-open]').first().focus()
    const names = await page.locator('.box:not([data-open])').evaluateAll((boxes) =>
      boxes.map((box) => {
        const { x, y, width, height } = box.getBoundingClientRect()
        return box.contains(document.elementFromPoint(x + width / 2, y + height / 2))
      }),
    )
    expect(new Set(names)).toEqual(new Set([true]))
  })

  test('shows hostile names as text, and runs none of them', async () => {
    const names = [
      '"><img src=x onerror=alert(1)>.js',
      '<!--<script>alert(2)',
      '</script><script>alert(3)</script>/x.js',
      '__proto__/constructor.js',
      "' onfocus=alert(4) autofocus '.js",
    ]
    const { page, requests, complaints } = await openReport(
      makeBuild(...names.toSorted().map((name) => [name, 5000] as const)),
    )
    const shown = await page.getByRole('rowheader').allTextContents()
    expect(shown.filter((text) => text !== 'total').toSorted()).toEqual(names.toSorted())
    expect(await page.locator('img, iframe, object, link').count()).toBe(0)
    expect(await page.locator('script').count()).toBe(2)
    expect(requests).toHaveLength(1)
    expect(complaints).toEqual([])
  })

  test('runs no other script, even if one is added to the page', async () => {
    const { page, complaints } = await openReport(after)
    await page.evaluate(() => {
      const script = document.createElement('script')
      script.textContent = 'document.title = "it ran"'
      document.body.append(script)
    })
    expect(await page.title()).toBe('Build size')
    expect(complaints.join()).toMatch(/Content Security Policy/)
  })

  test('stays fast with thousands of files: the smallest share one box that opens', async () => {
    const files = Array.from({ length: 4000 }, (_, index) => [`f${10_000 + index}.js`, 1000 + index] as const)
    const { page } = await openReport(makeBuild(...files))
    expect(await page.locator('.box').count()).toBe(121)
    await page.getByRole('button', { name: /^3880 smaller/ }).click()
    expect(await page.locator('.box').count()).toBe(121)
    expect(await page.getByRole('row').count()).toBe(4002)
  })
})
