import express from 'express'
import Fastify from 'fastify'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import serveDist from '../../src/hosts/fastify.ts'
import { createFetchHandler } from '../../src/hosts/fetch.ts'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { openLiveSite } from '../../src/live/open-live-site.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { rawRequest } from '../support/raw-request.ts'
import { startListener } from '../support/start-listener.ts'
import { readValues } from './read-values.ts'

const target = '/serve-dist-env.js'
const environment = { API_URL: 'https://api.example' }

let directory: string
beforeAll(async () => {
  directory = await buildFixture(
    { 'index.html': 'page', 'serve-dist-env.js': '' },
    {
      environment: {
        path: 'serve-dist-env.js',
        prefix: '',
        variables: { API_URL: { type: 'string', required: true } },
      },
    },
  )
})

async function valuesOf(port: number): Promise<unknown> {
  return await readValues((await rawRequest(port, { target })).body.toString())
}

describe('the module of the environment', () => {
  test('is served by Express', async () => {
    const app = express().use(createHandler(await loadSite(directory, { environment })))
    expect(await valuesOf(await startListener(app))).toEqual(environment)
  })

  test('is served by Fastify', async () => {
    const app = Fastify()
    onTestFinished(() => app.close())
    await app.register(serveDist, { site: await loadSite(directory, { environment }) })
    const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
    expect(await valuesOf(Number(port))).toEqual(environment)
  })

  test('is served by the fetch handler, also for a copy of the site', async () => {
    const site = await loadSite(directory, { environment })
    for (const each of [site, structuredClone(site)]) {
      const response = await createFetchHandler(each)(new Request(`http://localhost${target}`))
      expect(response?.headers.get('Cache-Control')).toBe('no-cache')
      expect(await readValues((await response?.text()) ?? '')).toEqual(environment)
    }
  })

  test('gets the new values at each reload of a live site', async () => {
    const given: Record<string, string> = { API_URL: 'one' }
    const live = await openLiveSite(directory, { environment: given })
    onTestFinished(() => live.close())
    const port = await startListener(createHandler(live))
    const { buildId } = live.current
    expect(await live.reload()).toMatchObject({ status: 'unchanged', buildId })
    given['API_URL'] = 'two'
    const swapped = { status: 'swapped', buildId, replaced: buildId, hasNewValues: true }
    expect(await live.reload()).toMatchObject(swapped)
    expect(await valuesOf(port)).toEqual({ API_URL: 'two' })
    delete given['API_URL']
    expect(await live.reload()).toEqual({
      status: 'refused',
      buildId,
      problems: ['API_URL: the build requires this environment variable, and it is not set'],
    })
    expect(await valuesOf(port)).toEqual({ API_URL: 'two' })
  })

  test('uses the process environment by default', async () => {
    process.env['API_URL'] = 'of the process'
    onTestFinished(() => void delete process.env['API_URL'])
    const site = await loadSite(directory)
    expect(await valuesOf(await startListener(createHandler(site)))).toEqual({ API_URL: 'of the process' })
  })
})
