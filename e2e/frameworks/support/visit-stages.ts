import path from 'node:path'
import type { Browser } from 'playwright'
import { findDifferingFiles } from '../../src/find-differing-files.ts'
import { openPolicyWatchedPage } from '../../src/open-policy-watched-page.ts'
import { openTwoStages, startInBoth } from '../../src/open-two-stages.ts'
import { readManifest } from '../../src/read-manifest.ts'
import type { StageApi } from '../../src/start-stage-api.ts'
import { startCommand } from '../../src/start-command.ts'
import type { FrameworkProject } from './framework-project.ts'

/** The content of a page whose components show their environment and have a button that counts clicks. */
interface PageVisit {
  readonly path: string
  /** The values that each component shows. */
  readonly stages: readonly unknown[]
  /** The text of each button after a click, which proves hydration. */
  readonly clicks: readonly string[]
  readonly problems: readonly string[]
  /** The responses of this stage's API, then of the other's. */
  readonly answers: readonly string[]
  readonly injected: readonly string[]
}

/** The results of a build in two stages at once. */
export interface StagesVisit {
  readonly blue: readonly PageVisit[]
  readonly green: readonly PageVisit[]
  /** The paths of files with different responses. */
  readonly differing: readonly string[]
}

/** Returns the expected results. `pages` lists the component names of each page. */
export function expectedStages(pages: Readonly<Record<string, readonly string[]>>): StagesVisit {
  const seenIn = (stage: string): PageVisit[] =>
    Object.entries(pages).map(([address, names]) => ({
      path: address,
      stages: names.map(() => stage),
      clicks: names.map((name) => `${name} 1`),
      problems: [],
      answers: [stage, 'blocked'],
      injected: [],
    }))
  return { blue: seenIn('blue'), green: seenIn('green'), differing: ['serve-dist-env.js'] }
}

/** Serves a build in two stages for the running test, and opens its pages in Chromium. */
export async function visitStages(
  project: FrameworkProject,
  folder: string,
  pages: readonly string[],
): Promise<StagesVisit> {
  const stages = await openTwoStages()
  try {
    const { browser, blue, green } = stages
    const urls = await startInBoth(stages, ({ stage, url }) =>
      startCommand(project.command, {
        args: [folder, '--port', '0'],
        cwd: project.folder,
        environment: { STAGE: stage, API_URL: url.href },
      }),
    )
    const [blueUrl, greenUrl] = urls
    const visitAll = async (base: URL, apis: readonly [StageApi, StageApi]): Promise<PageVisit[]> => {
      const seen: PageVisit[] = []
      for (const address of pages) seen.push(await visitPage(browser, new URL(address, base), apis))
      return seen
    }
    return {
      blue: await visitAll(blueUrl, [blue, green]),
      green: await visitAll(greenUrl, [green, blue]),
      differing: await findDifferingFiles(await readManifest(path.join(project.folder, folder)), ...urls),
    }
  } finally {
    await stages.close()
  }
}

async function visitPage(
  browser: Browser,
  url: URL,
  apis: readonly [StageApi, StageApi],
): Promise<PageVisit> {
  const { page, complaints, violations, ask, inject } = await openPolicyWatchedPage(browser)
  await page.goto(url.href, { waitUntil: 'networkidle' })
  const texts = await page.locator('output.values').allInnerTexts()
  const stages = texts.map((text): unknown => (text === '' ? text : Reflect.get(JSON.parse(text), 'STAGE')))
  const buttons = page.locator('button.count')
  for (const button of await buttons.all()) await button.click()
  const clicks = await buttons.allInnerTexts()
  const problems = [...violations, ...complaints]
  const answers = [await ask(apis[0]), await ask(apis[1])]
  const { pathname } = url
  return { path: pathname, stages, clicks, problems, answers, injected: await inject(apis[1]) }
}
