import { afterAll, beforeAll } from 'vitest'
import { chromiumPath, launchChromium } from '../../../../e2e/src/launch-chromium.ts'
import { type OpenedPage, openPage } from '../../../../e2e/src/open-page.ts'

/** Starts Chromium for the tests of a file, if it is available. Each page stays open until its test ends. */
export function useChromium(): () => Promise<OpenedPage> {
  let browser: Awaited<ReturnType<typeof launchChromium>> | undefined
  beforeAll(async () => {
    if (chromiumPath !== undefined) browser = await launchChromium()
  })
  afterAll(() => browser?.close())
  return async () => {
    if (browser === undefined) throw new Error('no Chromium')
    return await openPage(browser)
  }
}
