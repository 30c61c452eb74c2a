import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openStore, publish, rollback, type StoreBackend } from '@serve-dist/store'
import type { Browser } from 'playwright'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { buildVersion } from '../src/build-version.ts'
import { chromiumPath, launchChromium } from '../src/launch-chromium.ts'
import { openAllRoutes, openTab, shownBy } from '../src/open-tab.ts'
import { serveStore } from '../src/serve-store.ts'
import { simulateTabShown } from '../src/simulate-tab-shown.ts'
import { startRecordingProxy } from '../src/start-recording-proxy.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'
import { waitUntilCurrent } from '../src/wait-until-current.ts'

describe.skipIf(chromiumPath === undefined)('a Chromium tab with a store of builds', () => {
  let browser: Browser
  let builds: string
  const distOf = (version: number) => path.join(builds, String(version))

  beforeAll(async () => {
    browser = await launchChromium()
    builds = await mkdtemp(path.join(tmpdir(), 'serve-dist-e2e-'))
    for (let version = 1; version <= 7; version += 1) await buildVersion(version, distOf(version))
  })
  afterAll(async () => {
    await browser?.close()
    await rm(builds, { recursive: true, force: true })
  })

  /** Keeps builds by number only, because no build in a test is a day old. */
  const deploy = (store: StoreBackend, version: number) =>
    publish(distOf(version), store, { retention: { generations: 5, age: 0 } })

  test('opens its lazy routes after five more deploys, and reloads once after a sixth', async () => {
    const place = await temporaryFolder()
    const store = await openStore(place)
    await deploy(store, 1)
    const { url } = await serveStore(place)
    const [last, ...tabs] = await Promise.all([1, 2, 3, 4, 5, 6].map(() => openTab(browser, url)))
    for (const [index, tab] of tabs.entries()) {
      const version = index + 2
      const { id } = await deploy(store, version)
      await waitUntilCurrent(url, id)
      expect(await openAllRoutes(tab)).toEqual(shownBy(1))
      expect([tab.loads(), tab.wrongAnswers]).toEqual([1, []])
    }

    const { id } = await deploy(store, 7)
    await waitUntilCurrent(url, id)
    await Promise.all([last?.page.waitForEvent('load'), last?.openRoute('deep').catch(() => '')])
    expect(last?.wrongAnswers).toEqual([
      expect.stringMatching(/^script \/assets\/deep-.+\.js: 404 text\/plain/),
    ])
    expect(last && (await openAllRoutes(last))).toEqual(shownBy(7))
    expect([last?.loads(), last?.wrongAnswers.length]).toEqual([2, 1])
  })

  test('learns of a deploy and of a rollback when it becomes visible', async () => {
    const place = await temporaryFolder()
    const store = await openStore(place)
    const { id: first } = await deploy(store, 1)
    const { url } = await serveStore(place)
    const old = await openTab(browser, url)
    const { id: second } = await deploy(store, 2)
    await waitUntilCurrent(url, second)
    const tab = await openTab(browser, url)
    await rollback(store)
    await waitUntilCurrent(url, first)
    await simulateTabShown(tab.page)
    await expect.poll(() => tab.updates()).toEqual([first])
    expect(await openAllRoutes(tab)).toEqual(shownBy(2))

    await deploy(store, 2)
    await waitUntilCurrent(url, second)
    await simulateTabShown(old.page)
    await expect.poll(() => old.updates()).toEqual([second])
  })

  test('opens its lazy routes through the import map of its own build, after a deploy and a rollback', async () => {
    const folder = await temporaryFolder()
    const place = path.join(folder, 'store')
    const store = await openStore(place)
    const deployWithMap = async (version: number): Promise<string> => {
      const dist = path.join(folder, String(version))
      await buildVersion(version, dist, '/', { chunkImportMap: true })
      return (await publish(dist, store)).id
    }
    const first = await deployWithMap(1)
    const { url } = await serveStore(place)
    const old = await openTab(browser, url)
    await waitUntilCurrent(url, await deployWithMap(2))
    expect(await openAllRoutes(old)).toEqual(shownBy(1))
    const tab = await openTab(browser, url)
    await rollback(store)
    await waitUntilCurrent(url, first)
    expect(await openAllRoutes(tab)).toEqual(shownBy(2))
    for (const { loads, wrongAnswers, page } of [old, tab]) {
      expect([loads(), wrongAnswers]).toEqual([1, []])
      expect(await page.locator('script[type="importmap"]').count()).toBe(1)
    }
  })

  test('opens its lazy routes at two replicas that answer in turn during deploys', async () => {
    const place = await temporaryFolder()
    const store = await openStore(place)
    await deploy(store, 1)
    const replicas = await Promise.all([serveStore(place), serveStore(place)])
    let turn = 0
    const proxy = await startRecordingProxy(replicas[0].url, () => {
      turn += 1
      return replicas[turn % 2 === 0 ? 0 : 1].url
    })
    onTestFinished(() => proxy.close())
    for (const version of [2, 3, 4]) {
      const before = await openTab(browser, proxy.url)
      const { id } = await deploy(store, version)
      expect(await openAllRoutes(before)).toEqual(shownBy(version - 1))
      expect([before.loads(), before.wrongAnswers]).toEqual([1, []])
      // The test does not wait for the replicas. On a busy machine, one may take longer than a page waits.
      await vi.waitFor(
        async () => {
          const after = await openTab(browser, proxy.url)
          expect(await openAllRoutes(after)).toEqual(shownBy(await after.version()))
          expect([after.loads(), after.wrongAnswers]).toEqual([1, []])
        },
        { timeout: 20_000, interval: 1000 },
      )
      await Promise.all(replicas.map(({ url }) => waitUntilCurrent(url, id)))
    }
  })
})
