import type { Browser, Page } from 'playwright'
import { openPolicyWatchedPage } from './open-policy-watched-page.ts'
import type { StageApi } from './start-stage-api.ts'

/** The results of the application in one stage. */
export interface StageVisit {
  /** The values that the page, a lazy chunk and the worker show. `null` without a worker. */
  readonly values: readonly unknown[]
  /** Policy violations, console errors and failed requests up to now. */
  readonly problems: readonly string[]
  /** The responses to the page and the worker, of this stage's API and then of the other's. */
  readonly answers: readonly unknown[]
  /** The injected scripts that ran. */
  readonly injected: readonly string[]
}

/** Returns the expected results. */
export function expectedVisit({ stage, url }: StageApi, hasWorker = true): StageVisit {
  const values = { API_URL: url.href, STAGE: stage, LIMIT: 10 }
  return {
    values: [values, values, hasWorker ? values : null],
    problems: [],
    answers: hasWorker ? [stage, stage, 'blocked', 'blocked'] : [stage, 'blocked'],
    injected: [],
  }
}

/** Opens the application in its stage. */
export async function visitStage(
  browser: Browser,
  url: URL,
  { own, other }: { readonly own: StageApi; readonly other: StageApi },
): Promise<StageVisit> {
  const { page, complaints, violations, ask, inject } = await openPolicyWatchedPage(browser)
  await page.goto(url.href)
  try {
    await page.locator('#worker:not(:empty)').waitFor()
  } catch (error) {
    throw new Error([String(error), ...violations, ...complaints].join('\n'), { cause: error })
  }
  const texts = await page.locator('output').allInnerTexts()
  const values = texts.map((text): unknown => JSON.parse(text))
  const hasRun = await page.evaluate(() => document.documentElement.dataset['inline'] === 'ran')
  const problems = [...violations, ...complaints, ...(hasRun ? [] : ['the inline script did not run'])]
  const answers: unknown[] = []
  for (const api of [own, other]) {
    answers.push(await ask(api))
    if (values.at(-1) !== null) answers.push(await askInWorker(page, api))
  }
  return { values, problems, answers, injected: await inject(other) }
}

function askInWorker(page: Page, { url }: StageApi): Promise<unknown> {
  return page.evaluate((address): unknown => Reflect.get(globalThis, 'askInWorker')(address), url.href)
}
