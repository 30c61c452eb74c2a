import type { Browser, Page } from 'playwright'
import { onTestFinished } from 'vitest'

/** A tab with fixtures/deploys in it, and a cache of its own. */
export interface Tab {
  readonly page: Page
  /** Every answer so far that is no success, or that is a page and was asked for as something else. */
  readonly wrongAnswers: readonly string[]
  /** How often the page has been loaded. */
  readonly loads: () => number
  /** What the page says of its own version. */
  readonly version: () => Promise<number>
  /** The builds that the page was told of. */
  readonly updates: () => Promise<string[]>
  /** Opens a route in the page, and answers what that shows, or why it does not. */
  readonly openRoute: (name: RouteName) => Promise<string>
}

const routeNames = ['plain', 'styled', 'worker', 'deep'] as const
type RouteName = (typeof routeNames)[number]

/** What each route shows where all that it loads is of one version. */
export function shownBy(version: number): Record<RouteName, string> {
  return {
    plain: `plain ${version}`,
    styled: `styled ${version}, style ${version}, loaded`,
    worker: `worker ${version}, thread ${version}, import ${version}`,
    deep: `deep ${version}, deeper ${version}, deepest ${version}`,
  }
}

/** Opens the application in a tab for the running test. */
export async function openTab(browser: Browser, url: URL): Promise<Tab> {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const wrongAnswers: string[] = []
  let loads = 0
  page.on('load', () => void (loads += 1))
  page.on('response', (answer) => {
    const kind = answer.request().resourceType()
    const type = answer.headers()['content-type'] ?? ''
    const isPage = type.startsWith('text/html')
    if (![200, 304].includes(answer.status()) || isPage !== (kind === 'document'))
      wrongAnswers.push(`${kind} ${new URL(answer.url()).pathname}: ${answer.status()} ${type}`)
  })
  await page.goto(url.href)
  return {
    page,
    wrongAnswers,
    loads: () => loads,
    version: async () => Number(await page.evaluate(() => Reflect.get(globalThis, 'version'))),
    updates: () => page.evaluate(() => Reflect.get(globalThis, 'updates')),
    openRoute: (name) => page.evaluate(openIn, name),
  }
}

/** What every route shows. */
export async function openAllRoutes(tab: Tab): Promise<Record<string, string>> {
  const shown: Record<string, string> = {}
  for (const name of routeNames) shown[name] = await tab.openRoute(name)
  return shown
}

async function openIn(name: string): Promise<string> {
  try {
    return await Reflect.get(globalThis, 'openRoute')(name)
  } catch (error) {
    return String(error)
  }
}
