import { readFile } from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { createHandler, loadSite } from '@serve-dist/server'
import express from 'express'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { buildStages } from '../src/build-stages.ts'
import { chromiumPath } from '../src/launch-chromium.ts'
import { listenLocally } from '../src/listen-locally.ts'
import {
  expectedVisitsOfBoth,
  openTwoStages,
  type StageServer,
  startInBoth,
  type TwoStages,
  visitBoth,
} from '../src/open-two-stages.ts'
import type { StageApi } from '../src/start-stage-api.ts'

describe.skipIf(chromiumPath === undefined)('one build in two stages', () => {
  let stages: TwoStages

  beforeAll(async () => {
    stages = await openTwoStages()
  })

  afterAll(async () => stages?.close())

  test('works with a relative base, at the root and under a path that a host strips', async () => {
    const dist = path.join(stages.folder, 'relative')
    await buildStages(dist, ['--base', './'])
    for (const mount of ['/', '/sub/path/']) {
      const urls = await startInBoth(stages, (stage) => serveStage(dist, stage, mount))
      expect(await visitBoth(stages, dist, urls)).toEqual(expectedVisitsOfBoth(stages))
    }
  })

  test('works with a base on another origin, with the same files from both servers', async () => {
    const dist = path.join(stages.folder, 'cdn')
    const cdn = http.createServer()
    const { url: cdnUrl, close } = await listenLocally(cdn)
    onTestFinished(close)
    await buildStages(dist, ['--base', `${cdnUrl.href}app/`], { STAGES_WORKER: 'no-worker.js' })
    expect(await readFile(path.join(dist, 'index.html'), 'utf8')).toContain(`src="${cdnUrl.href}app/assets/`)
    // The CDN's own values must not reach any page.
    const environment = { STAGE: 'cdn', API_URL: cdnUrl.href }
    cdn.on('request', createHandler(await loadSite(dist, { environment, rules: { cors: ['**'] } })))

    const urls = await startInBoth(stages, (stage) => serveStage(dist, stage, '/', 'app/'))
    expect(await visitBoth(stages, dist, urls)).toEqual(expectedVisitsOfBoth(stages, false))
  })
})

/**
 * Serves a build in one stage, below a path that its handler does not see. `page` is the path of its first
 * page.
 */
async function serveStage(
  dist: string,
  { stage, url }: StageApi,
  mount: string,
  page = '',
): Promise<StageServer> {
  const site = await loadSite(dist, { environment: { STAGE: stage, API_URL: url.href } })
  const server = await listenLocally(http.createServer(express().use(mount, createHandler(site))))
  return { url: new URL(mount + page, server.url), stop: server.close }
}
