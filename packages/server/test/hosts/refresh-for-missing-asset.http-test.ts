import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import express from 'express'
import Fastify from 'fastify'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import serveDist from '../../src/hosts/fastify.ts'
import { createFetchHandler } from '../../src/hosts/fetch.ts'
import { createHandler } from '../../src/hosts/handler.ts'
import type { HandlerOptions } from '../../src/hosts/handler-options.ts'
import { loadSite } from '../../src/load/load-site.ts'
import type { Site } from '../../src/site/site.ts'
import type { SiteHolder } from '../../src/site/site-holder.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { rawRequest } from '../support/raw-request.ts'
import { startListener } from '../support/start-listener.ts'

const appType = { appType: 'spa', assetsDirectory: 'assets' } as const
const passedOn = 299

/** Builds a site holder that finds a second build when it refreshes. */
async function behind(): Promise<{
  holder: SiteHolder
  looks: () => number
  first: Site
  directory: string
}> {
  const directory = await buildFixture({ 'index.html': 'one', 'assets/a-1.js': 'one' }, appType)
  const first = await loadSite(directory)
  const second = await loadSite(await buildFixture({ 'index.html': 'two', 'assets/a-2.js': 'two' }, appType))
  let looks = 0
  const holder = {
    current: first,
    async refreshForMissingAsset() {
      looks += 1
      // Requests that arrive now share this refresh.
      for (let turn = 0; turn < 10; turn += 1) await nextTurn()
      holder.current = second
    },
  }
  return { holder, looks: () => looks, first, directory }
}

const closers: (() => Promise<unknown>)[] = []
afterAll(async () => {
  await Promise.all(closers.map((close) => close()))
})

type Ask = (target: string, method?: string) => Promise<readonly [status: number, body: string]>

function asking(port: number): Ask {
  return async (target, method = 'GET') => {
    const { status, body } = await rawRequest(port, { target, method })
    return [status, String(body)]
  }
}

const hosts: readonly (readonly [
  string,
  status: number,
  (holder: SiteHolder, options?: HandlerOptions) => Promise<Ask>,
])[] = [
  ['node:http', 404, async (holder, options) => asking(await startListener(createHandler(holder, options)))],
  [
    'Express',
    passedOn,
    async (holder, options) => {
      const app = express().use(createHandler(holder, options))
      app.use((_request, response) => void response.status(passedOn).end())
      return asking(await startListener(app))
    },
  ],
  [
    'Fastify',
    passedOn,
    async (holder, options) => {
      const app = Fastify({ forceCloseConnections: true })
      await app.register(serveDist, { site: holder, ...options })
      app.setNotFoundHandler((_request, reply) => reply.code(passedOn).send())
      closers.push(() => app.close())
      return asking(Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port))
    },
  ],
  [
    'fetch',
    passedOn,
    async (holder, options) => {
      const handle = createFetchHandler(holder, options)
      return async (target, method = 'GET') => {
        const answer = await handle(new Request(`http://example.org${target}`, { method }))
        return [answer?.status ?? passedOn, (await answer?.text()) ?? '']
      }
    },
  ],
]

describe.each(hosts)('a site holder that can refresh, behind %s', (_name, missing, start) => {
  test('refreshes before it answers 404 for a missing hashed file, then serves the file', async () => {
    const { holder, looks } = await behind()
    const ask = await start(holder)
    expect(await ask('/assets/a-2.js')).toEqual([200, 'two'])
    expect(await ask('/assets/a-2.js', 'HEAD')).toEqual([200, ''])
    expect(looks()).toBe(1)
  })

  test('refreshes once, then answers 404 or passes the request on', async () => {
    const { holder, looks } = await behind()
    const ask = await start(holder)
    const [status, body] = await ask('/assets/a-3.js')
    expect([status, looks()]).toEqual([missing, 1])
    expect(body).toBe(missing === 404 ? '404 Not Found\n' : '')
  })

  test('does not refresh for other paths', async () => {
    const { holder, looks, first } = await behind()
    const ask = await start(holder)
    for (const target of ['/', '/assets/a-1.js', '/nothing.js', '/assets/route', '/assets/a-3.js.map'])
      await ask(target)
    await ask('/assets/a-3.js', 'POST')
    expect([looks(), holder.current]).toEqual([0, first])
  })

  test('looks on the disk before it refreshes', async () => {
    const { holder, looks, directory } = await behind()
    await writeFile(join(directory, 'assets/late.js'), 'late')
    const ask = await start(holder, { fileSystemFallback: true })
    expect(await ask('/assets/late.js')).toEqual([200, 'late'])
    expect(looks()).toBe(0)
    await rm(join(directory, 'assets/late.js'))
    expect(await ask('/assets/a-2.js')).toEqual([200, 'two'])
    expect(looks()).toBe(1)
  })

  test('answers at once if it cannot refresh', async () => {
    const { first } = await behind()
    const ask = await start({ current: first })
    expect(await ask('/assets/a-2.js')).toMatchObject([missing, expect.anything()])
  })
})
