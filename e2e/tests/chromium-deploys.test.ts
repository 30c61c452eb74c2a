import path from 'node:path'
import type { Browser } from 'playwright'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { buildVersion } from '../src/build-version.ts'
import { chromiumPath, launchChromium } from '../src/launch-chromium.ts'
import { openAllRoutes, openTab, shownBy } from '../src/open-tab.ts'
import { readManifest } from '../src/read-manifest.ts'
import { simulateTabShown } from '../src/simulate-tab-shown.ts'
import { type RunningCommand, startCommand } from '../src/start-command.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'
import { waitUntilCurrent } from '../src/wait-until-current.ts'

const { command, project } = inject('packedSpa')

describe.skipIf(chromiumPath === undefined)('a Chromium tab during deploys', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchChromium()
  })
  afterAll(() => browser?.close())

  test('opens its lazy routes without a store, while one process watches the folder', async () => {
    const dist = path.join(await temporaryFolder(), 'dist')
    await buildVersion(1, dist)
    const server = await serve([dist, '--watch'])
    const tabs = [await openTab(browser, server.url), await openTab(browser, server.url)]
    for (const [index, tab] of tabs.entries()) {
      const version = index + 2
      await buildVersion(version, dist)
      const { buildId } = await readManifest(dist)
      await waitUntilCurrent(server.url, buildId)
      expect(await openAllRoutes(tab)).toEqual(shownBy(1))
      expect([tab.loads(), tab.wrongAnswers]).toEqual([1, []])
      await simulateTabShown(tab.page)
      await expect.poll(() => tab.updates()).toEqual([buildId])
    }
  })

  test('reloads once if its build is gone, and gets no page instead of a script', async () => {
    const dist = path.join(await temporaryFolder(), 'dist')
    await buildVersion(1, dist)
    const server = await serve([dist])
    const tab = await openTab(browser, server.url)
    await server.stop()
    await buildVersion(2, dist)
    await serve([dist], server.url.port)
    await Promise.all([tab.page.waitForEvent('load'), tab.openRoute('deep').catch(() => '')])
    expect(tab.wrongAnswers).toEqual([
      expect.stringMatching(/^script \/assets\/deep-.+\.js: 404 text\/plain/),
    ])
    expect(await openAllRoutes(tab)).toEqual(shownBy(2))
    expect([tab.loads(), tab.wrongAnswers.length]).toEqual([2, 1])
  })
})

async function serve(args: readonly string[], port = '0'): Promise<RunningCommand> {
  const server = await startCommand(command, { args: [...args, '--port', port], cwd: project })
  onTestFinished(async () => {
    await server.stop()
  })
  return server
}
