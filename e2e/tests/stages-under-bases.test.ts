import http from 'node:http'
import path from 'node:path'
import { createHandler, loadSite } from '@serve-dist/server'
import express from 'express'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildStages } from '../src/build-stages.ts'
import { chromiumPath } from '../src/launch-chromium.ts'
import { listenLocally } from '../src/listen-locally.ts'
import {
  flawlessVisits,
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

  test('with a relative base, under the root and under a path that a host takes off', async () => {
    const dist = path.join(stages.folder, 'relative')
    await buildStages(dist, ['--base', './'])
    for (const mount of ['/', '/sub/path/']) {
      const urls = await startInBoth(stages, (stage) => serveStage(dist, stage, mount))
      expect(await visitBoth(stages, dist, urls)).toEqual(flawlessVisits(stages))
    }
  })
})

/** Serves a build in one stage, below a path that its handler does not see. */
async function serveStage(dist: string, { stage, url }: StageApi, mount: string): Promise<StageServer> {
  const site = await loadSite(dist, { environment: { STAGE: stage, API_URL: url.href } })
  const server = await listenLocally(http.createServer(express().use(mount, createHandler(site))))
  return { url: new URL(mount, server.url), stop: server.close }
}
