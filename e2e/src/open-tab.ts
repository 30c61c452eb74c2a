import type { Browser, Page } from 'playwright'
import { onTestFinished } from 'vitest'

/** A tab with fixtures/deploys and a separate cache. */
export interface Tab {
  readonly page: Page
  /** Responses up to now that failed, or that are a page for another kind of request. */
  readonly wrongAnswers: readonly string[]
  /** Returns the number of page loads. */
  readonly loads: () => number
  /** Returns the version that the page shows. */
  readonly version: () => Promise<number>
  /** Returns the builds that the page was notified of. */
  readonly updates: () => Promise<string[]>
  /** Opens a route in the page. Returns its text, or the error. */
  readonly openRoute: (name: RouteName) => Promise<string>
}

const routeNames = ['plain', 'styled', 'worker', 'deep'] as const
type RouteName = (typeof routeNames)[number]

/** Returns the text of each route if all its files have one version. */
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

/** Returns the text of every route. */
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
