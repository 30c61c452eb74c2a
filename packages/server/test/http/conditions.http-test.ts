import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { manifestPath } from '@serve-dist/manifest'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { requestTwice } from '../support/request-twice.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

const target = '/assets/app-1a2b3c.js'
const long = 'Sun, 06 Nov 1994 08:49:37 GMT'

let server: StartedServer
let streaming: StartedServer
/** The entity tags by coding. */
let tags: Readonly<Record<string, string>>
let lastModified: string
beforeAll(async () => {
  const directory = await buildFixture(
    { 'index.html': 'page', 'assets/app-1a2b3c.js': compressibleText(5000), 'pixels.png': 'pixels' },
    { assetsDirectory: 'assets', isHashed: (path) => path.startsWith('assets/') },
  )
  server = await startServer(directory)
  streaming = await startServer(directory, { site: { memoryBudget: 0 } })
  const entries = await Promise.all(
    ['identity', 'zstd', 'br', 'gzip'].map(async (coding) => {
      const response = await requestTwice(server.port, { target, fields: { 'Accept-Encoding': coding } })
      lastModified = response.field('Last-Modified') ?? ''
      return [coding, response.field('ETag') ?? ''] as const
    }),
  )
  tags = Object.fromEntries(entries)
})

function tagOf(coding: string): string {
  return tags[coding] ?? ''
}

function aSecond(later: 1 | -1): string {
  return new Date(Date.parse(lastModified) + later * 1000).toUTCString()
}

async function statusWith(fields: Readonly<Record<string, string>>): Promise<number> {
  const [held, streamed] = await Promise.all([
    requestTwice(server.port, { target, fields }),
    requestTwice(streaming.port, { target, fields }),
  ])
  expect(streamed.status).toBe(held.status)
  return held.status
}

describe('If-None-Match', () => {
  test.each<readonly [string, () => string]>([
    ['the tag', () => tagOf('br')],
    ['the weak tag that a proxy may send', () => `W/${tagOf('br')}`],
    ['a list', () => `"x", ${tagOf('br')}`],
    ['a list after a tag with a comma inside', () => `"a,b",W/${tagOf('br')}`],
    ['the tags of all codings', () => Object.values(tags).join(', ')],
    ['any', () => '*'],
  ])('of %s is 304', async (_what, field) => {
    expect(await statusWith({ 'Accept-Encoding': 'br', 'If-None-Match': field() })).toBe(304)
  })

  test.each<readonly [string, () => string]>([
    ['another tag', () => '"x"'],
    ['the tag of another coding', () => tagOf('gzip')],
    ['the tag of the identity', () => tagOf('identity')],
    ['the tag without its quotes', () => tagOf('br').slice(1, -1)],
    ['the tag inside another', () => `"x,${tagOf('br').slice(1, -1)}"`],
    ['nothing', () => ''],
  ])('of %s is 200', async (_what, field) => {
    expect(await statusWith({ 'Accept-Encoding': 'br', 'If-None-Match': field() })).toBe(200)
  })

  test('on two lines is read as one list', async () => {
    const status = await statusWith({ 'If-None-Match': '"x"', 'if-none-match': tagOf('identity') })
    expect(status).toBe(304)
  })

  test.each(['GET', 'HEAD'])('gets a 304 for %s with only the fields of RFC 9110 §15.4.5', async (method) => {
    for (const coding of ['identity', 'zstd', 'br', 'gzip']) {
      const fields = { 'Accept-Encoding': coding }
      const ok = await requestTwice(server.port, { method, target, fields })
      const response = await requestTwice(server.port, {
        method,
        target,
        fields: { ...fields, 'If-None-Match': tagOf(coding) },
      })
      const names = response.fields.map(([name]) => name)
      expect(names.toSorted()).toEqual([
        'Cache-Control',
        'Connection',
        'Date',
        'ETag',
        'Last-Modified',
        'Vary',
      ])
      for (const name of ['ETag', 'Cache-Control', 'Vary', 'Last-Modified']) {
        expect([name, response.field(name)]).toEqual([name, ok.field(name)])
      }
    }
  })

  test('of a resource without variants gets a 304 without Vary', async () => {
    const response = await requestTwice(server.port, {
      target: '/pixels.png',
      fields: { 'If-None-Match': '*' },
    })
    expect([response.status, response.field('Vary')]).toEqual([304, undefined])
  })

  test('of the page gets a 304 under every path that serves the page', async () => {
    const page = await requestTwice(server.port, { target: '/' })
    const fields = { 'If-None-Match': page.field('ETag') ?? '', Accept: 'text/html' }
    for (const path of ['/', '/index.html', '/users/1']) {
      const response = await requestTwice(server.port, { target: path, fields })
      expect([path, response.status]).toEqual([path, 304])
    }
  })

  test('makes no 304 from an error or a redirect', async () => {
    const fields = { 'If-None-Match': '*', 'If-Modified-Since': aSecond(1), Accept: 'application/json' }
    for (const [path, status] of [
      ['/unknown', 404],
      ['/%', 400],
    ] as const) {
      const response = await requestTwice(server.port, { target: path, fields })
      expect([path, response.status]).toEqual([path, status])
    }
  })
})

describe('If-Modified-Since', () => {
  test('of the exact time is 304', async () => {
    expect(await statusWith({ 'If-Modified-Since': lastModified })).toBe(304)
  })

  test('of a later time is 304, of an earlier one 200', async () => {
    expect(await statusWith({ 'If-Modified-Since': aSecond(1) })).toBe(304)
    expect(await statusWith({ 'If-Modified-Since': aSecond(-1) })).toBe(200)
  })

  test('is read in the obsolete formats', async () => {
    const [, day = '', month, year = '', time] = lastModified.split(' ')
    const rfc850 = `Monday, ${day}-${month}-${year.slice(2)} ${time} GMT`
    const asctime = `Mon ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`
    expect(await statusWith({ 'If-Modified-Since': rfc850 })).toBe(304)
    expect(await statusWith({ 'If-Modified-Since': asctime })).toBe(304)
    expect(await statusWith({ 'If-Modified-Since': 'Sunday, 06-Nov-94 08:49:37 GMT' })).toBe(200)
    expect(await statusWith({ 'If-Modified-Since': 'Sun Nov  6 08:49:37 1994' })).toBe(200)
  })

  test.each(['tomorrow', '2199-01-01T00:00:00Z', '', 'Sun, 99 Nov 2094 08:49:37 GMT'])(
    'with an invalid date (%j) is ignored',
    async (field) => {
      expect(await statusWith({ 'If-Modified-Since': field })).toBe(200)
    },
  )

  test('is ignored if If-None-Match is present', async () => {
    expect(await statusWith({ 'If-Modified-Since': aSecond(1), 'If-None-Match': '"x"' })).toBe(200)
    expect(await statusWith({ 'If-Modified-Since': long, 'If-None-Match': tagOf('identity') })).toBe(304)
  })
})

describe('If-Match', () => {
  test('with the tag, a list or `*` is answered normally', async () => {
    expect(await statusWith({ 'If-Match': tagOf('identity') })).toBe(200)
    expect(await statusWith({ 'If-Match': `"x", ${tagOf('identity')}` })).toBe(200)
    expect(await statusWith({ 'If-Match': '*' })).toBe(200)
  })

  test.each<readonly [string, () => string]>([
    ['another tag', () => '"x"'],
    ['the weak tag', () => `W/${tagOf('identity')}`],
    ['the tag of another coding', () => tagOf('br')],
    ['nothing', () => ''],
  ])('of %s is 412 and no-store', async (_what, field) => {
    const response = await requestTwice(server.port, { target, fields: { 'If-Match': field() } })
    expect([response.status, response.field('Cache-Control')]).toEqual([412, 'no-store'])
    expect(response.field('Vary')).toBe('Accept-Encoding')
    expect(response.field('ETag')).toBeUndefined()
  })

  test('is evaluated before If-None-Match', async () => {
    expect(await statusWith({ 'If-Match': '"x"', 'If-None-Match': tagOf('identity') })).toBe(412)
    expect(await statusWith({ 'If-Match': '*', 'If-None-Match': tagOf('identity') })).toBe(304)
  })
})

describe('If-Unmodified-Since', () => {
  test('of the time or a later one is answered normally, of an earlier one with 412', async () => {
    expect(await statusWith({ 'If-Unmodified-Since': lastModified })).toBe(200)
    expect(await statusWith({ 'If-Unmodified-Since': aSecond(1) })).toBe(200)
    expect(await statusWith({ 'If-Unmodified-Since': aSecond(-1) })).toBe(412)
  })

  test('is ignored if If-Match is present, or if the date is invalid', async () => {
    expect(await statusWith({ 'If-Unmodified-Since': long, 'If-Match': '*' })).toBe(200)
    expect(await statusWith({ 'If-Unmodified-Since': 'long ago' })).toBe(200)
  })

  test('is evaluated before If-None-Match', async () => {
    expect(await statusWith({ 'If-Unmodified-Since': long, 'If-None-Match': '*' })).toBe(412)
  })
})

const hour = 3_600_000

/** Serves a build whose time differs from now by this many milliseconds. */
async function startAt(distance: number): Promise<{ port: number; warnings: string[] }> {
  const directory = await buildFixture({ 'index.html': 'page', 'app.js': 'script' })
  const file = join(directory, manifestPath)
  const time = new Date(Date.now() + distance).toISOString().replace(/\.\d+Z$/, 'Z')
  const manifest = await readFile(file, 'utf8')
  await writeFile(file, manifest.replaceAll(/"lastModified":"[^"]*"/g, `"lastModified":"${time}"`))
  const warnings: string[] = []
  const { port } = await startServer(directory, { site: { onWarning: (text) => warnings.push(text) } })
  return { port, warnings }
}

describe('a manifest with a time in the future', () => {
  test('sends no Last-Modified later than Date, ignores date conditions, and warns once', async () => {
    const { port, warnings } = await startAt(hour)
    const answer = await requestTwice(port, { target: '/app.js' })
    expect([answer.status, answer.field('Last-Modified')]).toEqual([200, undefined])
    const date = new Date(Date.now() + 2 * hour).toUTCString()
    for (const name of ['If-Modified-Since', 'If-Unmodified-Since']) {
      const fields = { [name]: name === 'If-Modified-Since' ? date : long }
      expect((await requestTwice(port, { target: '/app.js', fields })).status).toBe(200)
    }
    expect(warnings).toEqual([expect.stringMatching(/ahead of this machine's clock/)])
  })

  test('sends its time and supports conditions after that time has passed', async () => {
    const { port, warnings } = await startAt(-hour)
    const { field } = await requestTwice(port, { target: '/app.js' })
    expect(Date.parse(field('Last-Modified') ?? '')).toBeLessThanOrEqual(Date.parse(field('Date') ?? ''))
    expect(warnings).toEqual([])
  })
})
