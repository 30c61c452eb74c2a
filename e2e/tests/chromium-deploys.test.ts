import path from 'node:path'
import type { Browser } from 'playwright'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { buildVersion } from '../src/build-version.ts'
import { chromiumPath, launchChromium } from '../src/launch-chromium.ts'
import { openAllRoutes, openTab, shownBy } from '../src/open-tab.ts'
import { readManifest } from '../src/read-manifest.ts'
import { simulateTabShown } from '../src/simulate-tab-shown.ts'
import { sendRequest } from '../src/send-request.ts'
import { type RunningCommand, runToEnd, startCommand } from '../src/start-command.ts'
import { startRecordingProxy } from '../src/start-recording-proxy.ts'
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

  test('opens its lazy routes after two releases without a store, each carried from the one before', async () => {
    const folder = await temporaryFolder()
    const imageOf = async (version: number): Promise<string> => {
      const dist = path.join(folder, `dist-${version}`)
      await buildVersion(version, dist)
      return dist
    }
    const first = await imageOf(1)
    const initial = await serve([first])
    const replicas = [initial, await serve([first])]
    let turn = 0
    const proxy = await startRecordingProxy(initial.url, () => {
      turn += 1
      return replicas[turn % replicas.length]?.url ?? initial.url
    })
    onTestFinished(() => proxy.close())
    const { files } = await readManifest(first)
    const hashed = files.filter(({ cache }) => cache === 'immutable').map((file) => file.path)
    const tabs = [await openTab(browser, proxy.url)]
    for (const version of [2, 3]) {
      const dist = await imageOf(version)
      const args = ['carry', proxy.url.href, dist]
      expect(await runToEnd(command, { args, cwd: project })).toMatchObject({ exitCode: 0, errors: '' })
      const load = startLoad(proxy.url, ['', ...hashed])
      for (const old of replicas.slice()) {
        replicas.push(await serve([dist]))
        replicas.splice(replicas.indexOf(old), 1)
        await old.stop()
      }
      expect(await load.stop()).toEqual([])
      tabs.push(await openTab(browser, proxy.url))
    }
    for (const [index, tab] of tabs.entries()) {
      expect(await openAllRoutes(tab)).toEqual(shownBy(index + 1))
      expect([tab.loads(), tab.wrongAnswers]).toEqual([1, []])
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

/** Requests paths without a pause. `stop` returns the failures. */
function startLoad(site: URL, paths: readonly string[]): { stop: () => Promise<readonly string[]> } {
  const failures: string[] = []
  const end = new AbortController()
  const run = async (): Promise<void> => {
    for (let count = 0; !end.signal.aborted || count < paths.length; count += 1) {
      const address = new URL(paths[count % paths.length] ?? '', site)
      const status = await sendRequest(address).then((answer) => answer.status, String)
      if (status !== 200) failures.push(`${address.pathname}: ${status}`)
    }
  }
  const running = Promise.all([run(), run()])
  return {
    async stop() {
      end.abort()
      await running
      return failures
    },
  }
}

async function serve(args: readonly string[], port = '0'): Promise<RunningCommand> {
  const server = await startCommand(command, { args: [...args, '--port', port], cwd: project })
  onTestFinished(async () => {
    await server.stop()
  })
  return server
}
