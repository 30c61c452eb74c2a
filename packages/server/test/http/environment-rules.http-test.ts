import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ServingRules } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { rawRequest } from '../support/raw-request.ts'
import { startTarget } from '../support/start-target.ts'
import { startServer } from '../support/start-server.ts'

const rules: ServingRules = {
  headers: { '*.html': { 'X-Stage': { env: 'STAGE' }, 'X-Fixed': 'yes' } },
  cacheControl: { '*.html': { env: 'PAGE_CACHE' } },
}

describe('{ env } in rules', () => {
  test('is the value of a variable, which each reload reads again', async () => {
    const directory = await buildFixture({ 'index.html': 'page' })
    const envFile = join(directory, '../rules.env')
    await writeFile(envFile, 'STAGE=test\nPAGE_CACHE="public, max-age=5"\n')
    const environment = { STAGE: 'production' }
    const server = await startServer(directory, { site: { rules, environment, envFile } })
    const fieldsOf = async () => {
      const answer = await rawRequest(server.port)
      return ['X-Stage', 'X-Fixed', 'Cache-Control'].map((name) => answer.field(name))
    }
    // A variable of the environment precedes the file.
    expect(await fieldsOf()).toEqual(['production', 'yes', 'public, max-age=5'])
    await writeFile(envFile, 'PAGE_CACHE=no-store\n')
    expect(await server.reload()).toMatchObject({ status: 'swapped', hasNewRules: true })
    expect(await fieldsOf()).toEqual(['production', 'yes', 'no-store'])
    expect(await server.reload()).toMatchObject({ status: 'unchanged' })
    await writeFile(envFile, '')
    expect(await server.reload()).toMatchObject({ status: 'refused' })
    expect(await fieldsOf()).toEqual(['production', 'yes', 'no-store'])
  })

  test('stops the start if a variable is not set or no field value, and names all of them', async () => {
    const directory = await buildFixture({ 'index.html': 'page' })
    const environment = { STAGE: 'se\ncret' }
    const started = startServer(directory, { site: { rules, environment } })
    await expect(started).rejects.toMatchObject({
      code: 'SD_ENVIRONMENT_INVALID',
      problems: [
        'PAGE_CACHE: cacheControl["*.html"]: it is not set',
        'STAGE: headers["*.html"]["X-Stage"]: it has characters that a field cannot contain',
      ],
    })
  })

  test('makes a reload use another address of a rule that proxies', async () => {
    const [first, second] = [await startTarget(), await startTarget()]
    const directory = await buildFixture({ 'index.html': 'page' })
    const envFile = join(directory, '../address.env')
    await writeFile(envFile, `API=${first.url}\n`)
    const proxy = { redirects: [{ from: '/api/*', to: { env: 'API' }, status: 200 as const }] }
    const server = await startServer(directory, { site: { rules: proxy, environment: {}, envFile } })
    expect((await rawRequest(server.port, { target: '/api/a' })).status).toBe(200)
    await writeFile(envFile, `API=${second.url}\n`)
    expect(await server.reload()).toMatchObject({ status: 'swapped' })
    expect((await rawRequest(server.port, { target: '/api/b' })).status).toBe(200)
    expect([first.requests.length, second.requests.length]).toEqual([1, 1])
  })

  test('is the target of a redirect, or the page of an error', async () => {
    const directory = await buildFixture({ 'index.html': 'page', 'sorry.html': 'sorry' })
    const environment = { SITE: 'https://other.example/docs/', PAGE: '/sorry.html', PLACE: '/b?c=:id' }
    const redirects = [
      { from: '/old/*', to: { env: 'SITE', path: '/:splat' }, status: 301 },
      { from: '/docs', to: { env: 'SITE' } },
      { from: '/a/:id', to: { env: 'PLACE' }, status: 302 },
      { from: '/item', query: { id: ':id' }, to: { env: 'SITE', path: '/i?n=:id' } },
      { from: '/down/*', to: { env: 'PAGE' }, status: 503, force: true },
    ] as const
    const server = await startServer(directory, { site: { rules: { redirects }, environment } })
    const answers = [
      ['/old/x/y?z', 301, 'https://other.example/docs/x/y?z'],
      ['/docs', 308, 'https://other.example/docs/'],
      ['/a/7', 302, '/b?c=7'],
      ['/item?id=7', 308, 'https://other.example/docs/i?n=7'],
      ['/down/x', 503, undefined],
    ]
    for (const [target, status, location] of answers) {
      const fields = { Accept: 'text/html' }
      const answer = await rawRequest(server.port, { target: String(target), fields })
      expect([target, answer.status, answer.field('Location')]).toEqual([target, status, location])
    }
    const wrong = { SITE: 'other.example', PAGE: 'https://a.example?b', PLACE: '/:secret' }
    await expect(
      startServer(directory, { site: { rules: { redirects }, environment: wrong } }),
    ).rejects.toMatchObject({
      code: 'SD_ENVIRONMENT_INVALID',
      problems: [
        'SITE: the target of the rule /old/*: expected a path or an http(s) URL, with variables of the rule only',
        'SITE: the target of the rule /docs: expected a path or an http(s) URL, with variables of the rule only',
        'PLACE: the target of the rule /a/:id: expected a path or an http(s) URL, with variables of the rule only',
        'SITE: the target of the rule /item: expected a path or an http(s) URL, with variables of the rule only',
      ],
    })
    const withQuery = { ...environment, SITE: 'https://other.example/?a' }
    await expect(
      startServer(directory, { site: { rules: { redirects }, environment: withQuery } }),
    ).rejects.toMatchObject({
      problems: ['/old/*', '/item'].map(
        (from) =>
          `SITE: the target of the rule ${from}: expected no query, because \`path\` follows the value`,
      ),
    })
  })

  test('rejects other objects', async () => {
    const directory = await buildFixture({ 'index.html': 'page' })
    const wrong: ServingRules = JSON.parse('{ "headers": { "*": { "X-A": { "evn": "A" } } } }')
    await expect(startServer(directory, { site: { rules: wrong } })).rejects.toThrow('headers["*"]["X-A"]')
    const own: ServingRules = JSON.parse('{ "headers": { "*": { "ETag": { "env": "A" } } } }')
    await expect(startServer(directory, { site: { rules: own } })).rejects.toThrow('ETag itself')
  })
})
