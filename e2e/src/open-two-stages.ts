import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Browser } from 'playwright'
import { onTestFinished } from 'vitest'
import { findDifferingFiles } from './find-differing-files.ts'
import { launchChromium } from './launch-chromium.ts'
import { readManifest } from './read-manifest.ts'
import { type StageApi, startStageApi } from './start-stage-api.ts'
import { expectedVisit, type StageVisit, visitStage } from './visit-stage.ts'

/** Two stages, each with its own API, and a Chromium that visits both. */
export interface TwoStages {
  readonly blue: StageApi
  readonly green: StageApi
  readonly browser: Browser
  /** An empty folder for builds. */
  readonly folder: string
  readonly close: () => Promise<void>
}

/** A server, in its own process or in this one. */
export interface StageServer {
  readonly url: URL
  readonly stop: () => Promise<unknown>
}

/** The results of one build in both stages. */
export interface VisitOfBoth {
  readonly inBlue: StageVisit
  readonly inGreen: StageVisit
  /** The paths of files with different responses. */
  readonly differing: readonly string[]
}

/** Starts the APIs and the browser of two stages. */
export async function openTwoStages(): Promise<TwoStages> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'serve-dist-stages-')))
  const [blue, green] = [await startStageApi('blue'), await startStageApi('green')]
  const browser = await launchChromium()
  const close = async (): Promise<void> => {
    await Promise.all([browser.close(), blue.close(), green.close()])
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return { blue, green, browser, folder, close }
}

/** Starts a server in each stage. Stops both after the running test. */
export async function startInBoth(
  { blue, green }: TwoStages,
  start: (stage: StageApi) => Promise<StageServer>,
): Promise<readonly [URL, URL]> {
  const started = async (stage: StageApi): Promise<URL> => {
    const server = await start(stage)
    onTestFinished(async () => {
      await server.stop()
    })
    return server.url
  }
  return await Promise.all([started(blue), started(green)])
}

/** Visits one build that both stages serve. */
export async function visitBoth(
  { blue, green, browser }: TwoStages,
  dist: string,
  [blueUrl, greenUrl]: readonly [URL, URL],
): Promise<VisitOfBoth> {
  return {
    inBlue: await visitStage(browser, blueUrl, { own: blue, other: green }),
    inGreen: await visitStage(browser, greenUrl, { own: green, other: blue }),
    differing: await findDifferingFiles(await readManifest(dist), blueUrl, greenUrl),
  }
}

/** Returns the expected results. */
export function expectedVisitsOfBoth({ blue, green }: TwoStages, hasWorker = true): VisitOfBoth {
  return {
    inBlue: expectedVisit(blue, hasWorker),
    inGreen: expectedVisit(green, hasWorker),
    differing: ['serve-dist-env.js'],
  }
}
