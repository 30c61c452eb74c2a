import { writeFile } from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAdaptorServer } from '@hono/node-server'
import { createHandler, openLiveSite, type SiteHolder } from '@serve-dist/server'
import { createFetchHandler } from '@serve-dist/server/fetch'
import serveDist from '@serve-dist/server/fastify'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { buildStages, stagesProject, viteCommand } from '../src/build-stages.ts'
import { chromiumPath } from '../src/launch-chromium.ts'
import { listenLocally } from '../src/listen-locally.ts'
import {
  expectedVisitsOfBoth,
  openTwoStages,
  startInBoth,
  type TwoStages,
  visitBoth,
} from '../src/open-two-stages.ts'
import { startCommand } from '../src/start-command.ts'
import { expectedVisit, visitStage } from '../src/visit-stage.ts'

const examples = fileURLToPath(new URL('../../examples', import.meta.url))

const hosts: readonly (readonly [string, (site: SiteHolder) => http.Server | Promise<http.Server>])[] = [
  ['Express', (site) => http.createServer(express().use(createHandler(site)))],
  [
    'Fastify',
    async (site) => {
      const app = Fastify()
      await app.register(serveDist, { site })
      await app.ready()
      return app.server
    },
  ],
  [
    'Hono',
    (site) => {
      const answer = createFetchHandler(site)
      const app = new Hono().use(async (context, next) => (await answer(context.req.raw)) ?? next())
      const server = createAdaptorServer({ fetch: app.fetch })
      if (!(server instanceof http.Server)) throw new Error('Hono has made no server for HTTP/1.1')
      return server
    },
  ],
]

describe.skipIf(chromiumPath === undefined)('one build in two stages', () => {
  let stages: TwoStages
  let dist: string

  beforeAll(async () => {
    stages = await openTwoStages()
    dist = path.join(stages.folder, 'dist')
    await buildStages(dist)
  })

  afterAll(async () => stages?.close())

  test.each(['express', 'fastify', 'hono'])('works in two processes of examples/%s', async (name) => {
    const urls = await startInBoth(stages, ({ stage, url }) =>
      startCommand([process.execPath], {
        args: [path.join(examples, name, 'server.js')],
        cwd: stages.folder,
        environment: { PORT: '0', STAGE: stage, API_URL: url.href },
      }),
    )
    expect(await visitBoth(stages, dist, urls)).toEqual(expectedVisitsOfBoth(stages))
  })

  test('works in two runs of vite preview, with .env files', async () => {
    const urls = await startInBoth(stages, async ({ stage, url }) => {
      await writeFile(path.join(stages.folder, `.env.${stage}`), `STAGE=${stage}\nAPI_URL=${url.href}\n`)
      return await startCommand(viteCommand, {
        args: ['preview', '--mode', stage, '--outDir', dist, '--port', '0'],
        cwd: stagesProject,
        environment: { STAGES_ENV_DIR: stages.folder },
      })
    })
    expect(await visitBoth(stages, dist, urls)).toEqual(expectedVisitsOfBoth(stages))
  })

  test.each(hosts)(
    'works one after the other in %s, with an option that each reload reads',
    async (_name, start) => {
      const { blue, green, browser } = stages
      const values: Record<string, string> = { STAGE: 'blue', API_URL: blue.url.href }
      const live = await openLiveSite(dist, { environment: values })
      onTestFinished(() => live.close())
      const server = await listenLocally(await start(live))
      onTestFinished(() => server.close())
      expect(await visitStage(browser, server.url, { own: blue, other: green })).toEqual(expectedVisit(blue))

      values['API_URL'] = ''
      expect(await live.reload()).toMatchObject({ status: 'refused' })
      expect(await visitStage(browser, server.url, { own: blue, other: green })).toEqual(expectedVisit(blue))

      Object.assign(values, { STAGE: 'green', API_URL: green.url.href })
      expect(await live.reload()).toMatchObject({ status: 'swapped' })
      expect(await visitStage(browser, server.url, { own: green, other: blue })).toEqual(expectedVisit(green))
    },
  )
})
