import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Manifest } from '@serve-dist/manifest'
import type { Browser } from 'playwright'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { chromiumPath, launchChromium } from '../src/launch-chromium.ts'
import { type PolicyWatchedPage, openPolicyWatchedPage } from '../src/open-policy-watched-page.ts'
import { readManifest } from '../src/read-manifest.ts'
import { sendRequest } from '../src/send-request.ts'
import { type RunningCommand, startCommand } from '../src/start-command.ts'
import { type StageApi, startStageApi } from '../src/start-stage-api.ts'
import { urlOfFile } from '../src/url-of-file.ts'
import { visitLinks } from '../src/visit-links.ts'

/** One environment: an API, and a server of the build whose values name it. */
interface Stage {
  readonly name: string
  readonly limit: number
  readonly api: StageApi
  readonly server: RunningCommand
}

const { command, dist, project } = inject('packedSpa')

describe('one build of examples/spa under two environments at once', () => {
  let manifest: Manifest
  let staging: Stage
  let production: Stage

  beforeAll(async () => {
    manifest = await readManifest(dist)
    const species: object[] = JSON.parse(
      await readFile(path.join(project, 'public/data/species.json'), 'utf8'),
    )
    const startStage = async (name: string, limit: number): Promise<Stage> => {
      const own = species.map((one, index) => Object.assign({}, one, { name: `Flower ${index} of ${name}` }))
      const api = await startStageApi(name, { '/species.json': own })
      const environment = {
        STAGE: name,
        RELEASE: `1.${limit}`,
        API_URL: api.url.origin,
        LIMIT: String(limit),
      }
      const server = await startCommand(command, { args: ['--port', '0'], cwd: project, environment })
      return { name, limit, api, server }
    }
    ;[staging, production] = await Promise.all([startStage('staging', 3), startStage('production', 5)])
  })

  afterAll(async () => {
    for (const stage of [staging, production]) {
      await stage?.server.stop()
      await stage?.api.close()
    }
  })

  test("differs only in the module and in the API's origins", async () => {
    const differing = new Set<string>()
    const paths = manifest.files.map((file) => urlOfFile(staging.server.url, file.path).pathname)
    const addresses = ['/', '/species/bellis.perennis', '/assets/gone-12345678.js', ...paths]
    for (const address of addresses) {
      for (const coding of ['identity', 'gzip', 'br', 'zstd']) {
        const headers = { 'accept-encoding': coding, 'sec-fetch-mode': 'navigate' }
        const [one, other] = await Promise.all(
          [staging, production].map((stage) => comparableResponse(stage, address, headers)),
        )
        if (!isDeepStrictEqual(one, other)) differing.add(address)
      }
    }
    expect([...differing]).toEqual(['/serve-dist-env.js'])
  })

  describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await launchChromium()
    })
    afterAll(() => browser?.close())

    const stages: readonly (readonly [string, () => readonly [Stage, Stage]])[] = [
      ['staging', () => [staging, production]],
      ['production', () => [production, staging]],
    ]

    test.each(stages)('shows its own values in every page and in a worker (%s)', async (_, stagesOf) => {
      const [own] = stagesOf()
      const { page, complaints, violations } = await openPolicyWatchedPage(browser)
      await page.goto(own.server.url.href)
      expect((await visitLinks(page)).length).toBeGreaterThanOrEqual(6)
      expect(await page.locator('.facts dd').allInnerTexts()).toEqual([
        own.name,
        `1.${own.limit}`,
        own.api.url.origin,
        `${own.limit} at most`,
      ])
      await page.locator('nav a[href="/species"]').click()
      await page.locator('.catalogue li').first().waitFor()
      expect(await page.locator('.catalogue strong').allInnerTexts()).toEqual(
        Array.from({ length: 24 }, (_unused, index) => `Flower ${index} of ${own.name}`),
      )
      await page.locator('.search').fill(`of ${own.name}`)
      await page
        .getByRole('status')
        .filter({ hasText: `${own.limit} of 24 flowers` })
        .waitFor()
      expect(await page.locator('.catalogue li').count()).toBe(own.limit)
      await page.goto(new URL('ferns', own.server.url).href)
      await page.getByTestId('wasm-result').waitFor()
      expect([...complaints, ...violations]).toEqual([])
    })

    test.each(stages)(
      'reaches its own API but not the other, from a page and a worker (%s)',
      async (_, stagesOf) => {
        const [own, other] = stagesOf()
        const { page, violations, ask } = await openPolicyWatchedPage(browser)
        const [worker] = await Promise.all([
          page.waitForEvent('worker'),
          page.goto(new URL('species', own.server.url).href),
        ])
        expect([await ask(own.api), await ask(other.api)]).toEqual([own.name, 'blocked'])
        const askInWorker = ({ url }: StageApi) =>
          worker.evaluate(
            (address) =>
              fetch(address).then(
                (answer) => answer.text(),
                () => 'blocked',
              ),
            url.href,
          )
        expect([await askInWorker(own.api), await askInWorker(other.api)]).toEqual([own.name, 'blocked'])
        // The page shows it after the worker has its response.
        await expect
          .poll(() => violations)
          .toEqual([expect.stringMatching(`^connect-src ${other.api.url.href}`)])
      },
    )

    test("gets another environment at the same address, despite the browser's cache", async () => {
      const { page, complaints, violations } = await openPolicyWatchedPage(browser)
      let port = '0'
      for (const stage of [staging, production]) {
        const environment = { STAGE: stage.name, API_URL: stage.api.url.origin }
        const server = await startCommand(command, { args: ['--port', port], cwd: project, environment })
        port = server.url.port
        try {
          await page.goto(new URL('species', server.url).href)
          // The worker fetches from the API, too.
          await page.locator('.search').fill(`of ${stage.name}`)
          await page.getByRole('status').filter({ hasText: '12 of 24 flowers' }).waitFor()
        } finally {
          await server.stop()
        }
      }
      expect([...complaints, ...violations]).toEqual([])
    })

    test('runs no injected script', async () => {
      const { page, violations, inject: put } = await openPolicyWatchedPage(browser)
      await page.goto(staging.server.url.href)
      await page.locator('main').waitFor()
      expect(await put(production.api)).toEqual([])
      expect(await evalInPage(page)).toBe('EvalError')
      await expect
        .poll(() => violations.map((text) => text.split(' ')[0]))
        .toEqual(['script-src-elem', 'script-src-attr', 'script-src-elem', 'script-src'])
    })
  })
})

/** Returns a stage's response, without the time and the API's origin. */
async function comparableResponse(
  { server, api }: Stage,
  address: string,
  sent: Readonly<Record<string, string>>,
): Promise<object> {
  const { status, headers, body } = await sendRequest(new URL(address, server.url), { headers: sent })
  const { date: _date, 'content-security-policy': policy = '', ...fields } = headers
  return {
    status,
    body,
    fields,
    policy: policy.toString().replace(api.url.origin, 'https://api.example.org'),
  }
}

/** Runs `eval` in a task of the page, because code from a debugger ignores the policy. Returns the result. */
function evalInPage(page: PolicyWatchedPage['page']): Promise<string> {
  return page.evaluate(
    () =>
      new Promise((resolve) => {
        setTimeout(() => {
          try {
            // oxlint-disable-next-line no-eval -- the test checks eval
            resolve(String(globalThis.eval('1 + 1')))
          } catch (error) {
            resolve(error instanceof Error ? error.name : 'thrown')
          }
        })
      }),
  )
}
