import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { requestTwice } from '../support/request-twice.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

const redirects = `
/item.php id=:id lang=:lang /:lang/items/:id 302
/item.php id=:id /items/:id
/item.php kind=all /items
/search.php q=:words /find?text=:words#top
/page.php path=:path https://example.com/:path
/loop id=:id /loop?id=:id
/next id=:id /next?page=:id
/blog/* preview=1 /drafts/:splat 307
/ page_id=:id /posts/:id 301!
/app.js v=old /legacy.js 200!
/plain id=:id /plain/:id
/item.php /catalogue 303
`

let server: StartedServer
beforeAll(async () => {
  const directory = await buildFixture({
    'index.html': 'page',
    'plain.html': 'plain page',
    'app.js': 'new script',
    'legacy.js': 'old script',
    _redirects: redirects,
  })
  server = await startServer(directory)
})

async function answerTo(target: string): Promise<readonly [number, string | undefined]> {
  const answer = await requestTwice(server.port, { target })
  return [answer.status, answer.field('Location')]
}

describe('a redirect by query', () => {
  test.each([
    ['/item.php?id=7', 301, '/items/7'],
    ['/item.php?id=7&lang=de', 302, '/de/items/7'],
    ['/item.php?lang=de&id=7', 302, '/de/items/7'],
    ['/item.php?kind=all', 301, '/items'],
    ['/item.php?kind=some', 303, '/catalogue?kind=some'],
    ['/item.php', 303, '/catalogue'],
    ['/item.php?id=', 303, '/catalogue?id='],
    ['/item.php?ID=7', 303, '/catalogue?ID=7'],
    ['/item.php?id=7&id=8', 301, '/items/7'],
    ['/%69tem.php?%69d=7', 301, '/items/7'],
    ['/blog/2026/a?preview=1', 307, '/drafts/2026/a'],
  ])('answers %s with %d to %s', async (target, status, location) => {
    expect(await answerTo(target)).toEqual([status, location])
  })

  test.each([
    ['/item.php?id=7&utm=a%20b&x', '/items/7?utm=a%20b&x'],
    ['/item.php?utm=1&id=7', '/items/7?utm=1'],
    ['/search.php?q=a&utm=1', '/find?text=a#top'],
  ])('passes on what the rule does not name: %s', async (target, location) => {
    expect((await answerTo(target))[1]).toBe(location)
  })

  test.each([
    ['/item.php?id=a%2Fb', '/items/a%2Fb'],
    ['/item.php?id=a+b%26c%3Fd%23e', '/items/a%20b%26c%3Fd%23e'],
    ['/item.php?id=%2F%2Fevil.example', '/items/%2F%2Fevil.example'],
    ['/item.php?id=%0D%0ASet-Cookie:a', '/items/%0D%0ASet-Cookie%3Aa'],
    ['/item.php?id=%C3%BC', '/items/%C3%BC'],
    ['/item.php?id=%FF', '/items/%EF%BF%BD'],
    ['/item.php?id=%', '/items/%25'],
    ['/search.php?q=a%26b%3Dc+d', '/find?text=a%26b%3Dc%20d#top'],
    ['/page.php?path=@evil.example', 'https://example.com/%40evil.example'],
  ])('encodes values: %s leads to %s', async (target, location) => {
    expect((await answerTo(target))[1]).toBe(location)
  })

  test.each(['/item.php?id=..', '/item.php?id=%2E', '/item.php?id=%2e%2e'])(
    'does not apply to the dot segment of %s',
    async (target) => {
      expect((await answerTo(target))[0]).toBe(303)
    },
  )

  test('never leads back to itself', async () => {
    expect(await answerTo('/loop?id=1')).toEqual([404, undefined])
    expect(await answerTo('/next?id=1')).toEqual([301, '/next?page=1'])
  })

  test('overrides a file of the build only with force, and only with the query', async () => {
    for (let round = 0; round < 3; round += 1) {
      expect(await answerTo('/?page_id=42')).toEqual([301, '/posts/42'])
      expect(await answerTo('/')).toEqual([200, undefined])
      expect(await answerTo('/?page=42')).toEqual([200, undefined])
      expect(await answerTo('/plain?id=1')).toEqual([200, undefined])
      expect((await requestTwice(server.port, { target: '/app.js?v=old' })).body.toString()).toBe(
        'old script',
      )
      expect((await requestTwice(server.port, { target: '/app.js?v=new' })).body.toString()).toBe(
        'new script',
      )
    }
  })

  test('answers other methods like those of other redirects', async () => {
    expect((await requestTwice(server.port, { method: 'POST', target: '/item.php?id=7' })).status).toBe(405)
    expect((await requestTwice(server.port, { method: 'OPTIONS', target: '/item.php?id=7' })).status).toBe(
      204,
    )
  })
})
