import http from 'node:http'
import type { Browser } from 'playwright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, launchChromium } from '../src/launch-chromium.ts'
import { listenLocally, type LocalServer } from '../src/listen-locally.ts'
import { openPolicyWatchedPage } from '../src/open-policy-watched-page.ts'
import { type StageApi, startStageApi } from '../src/start-stage-api.ts'

// Runs the probes of the stage tests without a policy. A probe that cannot succeed would prove nothing.
describe.skipIf(chromiumPath === undefined)('openPolicyWatchedPage', () => {
  let own: StageApi
  let other: StageApi
  let browser: Browser
  let site: LocalServer
  const server = http.createServer((request, response) => {
    if (request.url === '/guarded')
      response.setHeader(
        'Content-Security-Policy',
        `default-src 'self'; img-src data:; connect-src ${own.url.origin}`,
      )
    response.setHeader('Content-Type', 'text/html')
    response.end(
      '<!doctype html><title>Page</title><link rel="icon" href="data:,"><style>p { margin: 0 }</style>',
    )
  })

  beforeAll(async () => {
    own = await startStageApi('own')
    other = await startStageApi('other')
    browser = await launchChromium()
    site = await listenLocally(server)
  })

  afterAll(async () => {
    await browser?.close()
    await own?.close()
    await other?.close()
    await site?.close()
  })

  test('reaches both APIs and runs every injected script in a page without a policy', async () => {
    const { page, violations, ask, inject } = await openPolicyWatchedPage(browser)
    await page.goto(site.url.href)
    expect([await ask(own), await ask(other)]).toEqual(['own', 'other'])
    expect(await inject(other)).toEqual(['inline', 'attribute', 'another origin'])
    expect(violations).toEqual([])
  })

  test('reports what a policy blocks', async () => {
    const { page, violations, ask, inject } = await openPolicyWatchedPage(browser)
    await page.goto(new URL('guarded', site.url).href)
    await expect.poll(() => violations).toContainEqual(expect.stringMatching(/^style-src-elem inline/))
    expect([await ask(own), await ask(other)]).toEqual(['own', 'blocked'])
    expect(await inject(other)).toEqual([])
    const blocked = violations.map((text) => text.split(' ').slice(0, 2).join(' '))
    expect(blocked).toEqual([
      'style-src-elem inline',
      `connect-src ${other.url}`,
      'script-src-elem inline',
      'script-src-attr inline',
      `script-src-elem ${other.script}`,
    ])
  })
})
