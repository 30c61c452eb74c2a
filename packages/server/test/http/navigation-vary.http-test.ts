import express from 'express'
import { beforeAll, describe, expect, test } from 'vitest'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import type { ServeOptions } from '../../src/serve/serve-options.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { requestTwice } from '../support/request-twice.ts'
import { startListener } from '../support/start-listener.ts'
import { startServer } from '../support/start-server.ts'

const navigation = { 'Sec-Fetch-Mode': 'navigate' }
const byAccept = { Accept: 'text/html' }
const script = { Accept: '*/*', 'Sec-Fetch-Mode': 'cors' }
const both = 'Accept, Sec-Fetch-Mode'
const files = {
  'index.html': compressibleText(2000, 'page'),
  'about.html': 'about',
  'assets/app.js': compressibleText(2000, 'script'),
}
const options = { assetsDirectory: 'assets', appType: 'spa' } as const

type Rules = NonNullable<NonNullable<ServeOptions['site']>['rules']>

async function start(more: Readonly<Record<string, string>> = {}, rules: Rules = {}): Promise<number> {
  const directory = await buildFixture({ ...files, ...more }, options)
  return (await startServer(directory, { site: { rules } })).port
}

describe('Vary under a path with a fallback', () => {
  let port: number
  beforeAll(async () => {
    port = await start()
  })

  test.each<[string, Readonly<Record<string, string>>, number]>([
    ['a navigation', navigation, 200],
    ['a navigation by its Accept', byAccept, 200],
    ['a script', script, 404],
    ['a client without either field', {}, 200],
    ['a client that accepts any type', { Accept: '*/*' }, 200],
    ['a client of data', { Accept: 'application/json' }, 404],
    ['a condition that holds', { ...navigation, 'If-None-Match': '*' }, 304],
    ['a range', { ...navigation, Range: 'bytes=0-3' }, 206],
    ['a range beyond the end', { ...navigation, Range: 'bytes=9999999-' }, 416],
    ['a condition that fails', { ...navigation, 'If-Match': '"x"' }, 412],
    ['no coding at all', { ...navigation, 'Accept-Encoding': '*;q=0' }, 406],
  ])('names the fields that identified a navigation, for %s', async (_what, fields, status) => {
    for (const method of status === 206 || status === 416 ? ['GET'] : ['GET', 'HEAD']) {
      const response = await requestTwice(port, { method, target: '/users/1', fields })
      const codings = status === 404 ? '' : 'Accept-Encoding, '
      expect([response.status, response.field('Vary')]).toEqual([status, codings + both])
    }
  })

  // The native engine learns the values of fields, so requests that follow others on a connection matter.
  test('is right for requests of all kinds in turn on one connection', async () => {
    const connection = await openConnection(port)
    const kinds = [navigation, script, byAccept, {}, { Accept: '*/*' }, { Accept: 'image/avif' }]
    const seen: unknown[] = []
    for (const round of [1, 2, 3]) {
      for (const target of ['/users/1', '/users/1.js', '/']) {
        for (const fields of kinds) {
          connection.send(formatRequest({ target, fields }))
          const { status, field } = await connection.receive()
          if (round === 3) seen.push([target, status, field('Vary')])
        }
      }
    }
    const expected = { '/users/1': [0, 2, 3, 4], '/users/1.js': [0, 2], '/': [0, 1, 2, 3, 4, 5] }
    expect(seen).toEqual(
      Object.entries(expected).flatMap(([target, pages]) =>
        kinds.map((_fields, index) => {
          if (target === '/') return [target, 200, 'Accept-Encoding']
          return pages.includes(index) ? [target, 200, `Accept-Encoding, ${both}`] : [target, 404, both]
        }),
      ),
    )
  })

  test.each<[string, Readonly<Record<string, string>>, number, string | undefined]>([
    ['/', navigation, 200, 'Accept-Encoding'],
    ['/', script, 200, 'Accept-Encoding'],
    ['/about', navigation, 200, undefined],
    ['/assets/app.js', script, 200, 'Accept-Encoding'],
    ['/assets/none.js', script, 404, undefined],
    ['/assets/none.js', navigation, 404, undefined],
    ['/a//b', navigation, 404, undefined],
    ['/about/', navigation, 308, undefined],
  ])('is not on %s (%j)', async (target, fields, status, vary) => {
    const response = await requestTwice(port, { target, fields })
    expect([response.status, response.field('Vary')]).toEqual([status, vary])
  })

  test('is not on other methods, which are never navigations', async () => {
    const response = await rawRequest(port, { method: 'OPTIONS', target: '/users/1', fields: navigation })
    expect([response.status, response.field('Vary')]).toEqual([404, undefined])
  })

  test.each<[string, Readonly<Record<string, string>>, Rules, string | undefined, string | undefined]>([
    ['a 404 page', { '404.html': 'gone' }, {}, both, both],
    ['no fallback', {}, { fallback: 'none' }, undefined, undefined],
    ['a rule with a page', { _redirects: '/* /about.html 200' }, { fallback: 'none' }, both, both],
    ['a rule with a 404 page', { _redirects: '/* /about.html 404' }, {}, undefined, undefined],
    ['a rule with data', { 'a.json': '{}', _redirects: '/* /a.json 200' }, {}, undefined, undefined],
    ['a redirect', { _redirects: '/* /about 301' }, {}, undefined, undefined],
    [
      'a Vary of a rule',
      {},
      { headers: { '*.html': { vary: 'Origin, accept' } } },
      'Origin, accept, Accept-Encoding, Sec-Fetch-Mode',
      both,
    ],
    ['a Vary of `*`', {}, { headers: { '*.html': { Vary: '*' } } }, '*', both],
  ])('with %s', async (_what, more, rules, forNavigation, forScript) => {
    const started = await start(more, rules)
    const seen = [navigation, script].map(async (fields) =>
      (await requestTwice(started, { target: '/users/1', fields })).field('Vary'),
    )
    expect(await Promise.all(seen)).toEqual([forNavigation, forScript])
  })

  test('is on the 404 of a disk fallback', async () => {
    const directory = await buildFixture(files, options)
    const server = await startServer(directory, { handler: { fileSystemFallback: true } })
    const response = await rawRequest(server.port, { target: '/users/1', fields: script })
    expect([response.status, response.field('Vary')]).toEqual([404, both])
  })

  test('extends the Vary of earlier middleware, and is not on requests that are passed on', async () => {
    const site = await loadSite(await buildFixture(files, options))
    const app = express()
      .use((_request, response, next) => {
        response.setHeader('Vary', 'Accept-Encoding, Origin')
        next()
      })
      .use(createHandler(site, { fallback: 'spa' }))
    const started = await startListener(app)
    const page = await rawRequest(started, { target: '/users/1', fields: navigation })
    expect([page.status, page.field('Vary')]).toEqual([200, `Accept-Encoding, Origin, ${both}`])
    const other = await rawRequest(started, { target: '/users/1', fields: script })
    expect([other.status, other.field('Vary')]).toEqual([404, 'Accept-Encoding, Origin'])
  })
})
