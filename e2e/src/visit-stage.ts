import type { Browser, Page } from 'playwright'
import { openPolicyWatchedPage } from './open-policy-watched-page.ts'
import type { StageApi } from './start-stage-api.ts'

/** What a Chromium sees of the application in one stage. */
export interface StageVisit {
  /** The values that the page, a chunk that is loaded later, and the worker show; `null` without a worker. */
  readonly values: readonly unknown[]
  /** What is wrong until here: violations of the policy, errors in the console, requests that failed. */
  readonly troubles: readonly string[]
  /** What the page and the worker get from the API of this stage, then from that of the other. */
  readonly answers: readonly unknown[]
  /** Of the scripts that the test puts into the page, those that ran. */
  readonly injected: readonly string[]
}

/** What a visit sees where everything is right. */
export function expectedVisit({ stage, url }: StageApi, hasWorker = true): StageVisit {
  const values = { API_URL: url.href, STAGE: stage, LIMIT: 10 }
  return {
    values: [values, values, hasWorker ? values : null],
    troubles: [],
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
    await page.locator('#worker:not(:empty)').waitFor({ timeout: 10_000 })
  } catch (error) {
    throw new Error([String(error), ...violations, ...complaints].join('\n'), { cause: error })
  }
  const texts = await page.locator('output').allInnerTexts()
  const values = texts.map((text): unknown => JSON.parse(text))
  const hasRun = await page.evaluate(() => document.documentElement.dataset['inline'] === 'ran')
  const troubles = [...violations, ...complaints, ...(hasRun ? [] : ['the inline script did not run'])]
  const answers: unknown[] = []
  for (const api of [own, other]) {
    answers.push(await ask(api))
    if (values.at(-1) !== null) answers.push(await askInWorker(page, api))
  }
  return { values, troubles, answers, injected: await inject(other) }
}

function askInWorker(page: Page, { url }: StageApi): Promise<unknown> {
  return page.evaluate((address): unknown => Reflect.get(globalThis, 'askInWorker')(address), url.href)
}
