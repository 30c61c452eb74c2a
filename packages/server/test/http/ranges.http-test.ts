import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { requestTwice } from '../support/request-twice.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

const text = compressibleText(200_000)
const bytes = Buffer.from(text)
const size = bytes.length
const target = '/app.js'

let held: StartedServer
let streamed: StartedServer
beforeAll(async () => {
  const directory = await buildFixture({ 'app.js': text, 'empty.txt': '', 'one.txt': 'x' })
  held = await startServer(directory)
  streamed = await startServer(directory, { site: { memoryBudget: 0 } })
})

describe.each([
  ['from memory', () => held],
  ['streamed', () => streamed],
])('a range, %s', (_how, serverOf) => {
  const request = (fields: Readonly<Record<string, string>>, path = target) =>
    requestTwice(serverOf().port, { target: path, fields })

  test.each([
    ['bytes=0-0', 0, 0],
    ['bytes=0-99', 0, 99],
    ['bytes=65535-65536', 65_535, 65_536],
    ['bytes=1000-150000', 1000, 150_000],
    [`bytes=${size - 1}-`, size - 1, size - 1],
    ['bytes=0-', 0, size - 1],
    ['bytes=-1', size - 1, size - 1],
    ['bytes=-500', size - 500, size - 1],
    [`bytes=-${size * 2}`, 0, size - 1],
    [`bytes=5-${size * 2}`, 5, size - 1],
    ['bytes=5-9007199254740993', 5, size - 1],
    [`bytes=5-${'9'.repeat(400)}`, 5, size - 1],
    ['BYTES=1-2', 1, 2],
    ['bytes= 1-2 ', 1, 2],
    ['bytes=,1-2', 1, 2],
  ])('%s is 206 with bytes %d to %d', async (range, first, last) => {
    const response = await request({ Range: range, 'Accept-Encoding': 'zstd, br, gzip' })
    expect([response.status, response.field('Content-Range')]).toEqual([
      206,
      `bytes ${first}-${last}/${size}`,
    ])
    expect(response.field('Content-Length')).toBe(String(last - first + 1))
    expect(response.body.equals(bytes.subarray(first, last + 1))).toBe(true)
  })

  test('carries the fields of the identity, and no coding', async () => {
    const whole = await request({})
    const part = await request({ Range: 'bytes=0-9', 'Accept-Encoding': 'br' })
    for (const name of ['ETag', 'Last-Modified', 'Content-Type', 'Cache-Control', 'Vary', 'Accept-Ranges']) {
      expect([name, part.field(name)]).toEqual([name, whole.field(name)])
    }
    expect(part.field('Content-Encoding')).toBeUndefined()
    expect(part.field('Vary')).toBe('Accept-Encoding')
  })

  test.each([
    `bytes=${size}-`,
    `bytes=${size}-${size + 5}`,
    'bytes=-0',
    'bytes=9007199254740993-',
    `bytes=${'9'.repeat(400)}-`,
  ])('%s is 416 with the size and no-store', async (range) => {
    const response = await request({ Range: range })
    expect([response.status, response.field('Content-Range')]).toEqual([416, `bytes */${size}`])
    expect(response.field('Cache-Control')).toBe('no-store')
    expect(response.field('Vary')).toBe('Accept-Encoding')
    expect(response.field('ETag')).toBeUndefined()
  })

  test.each([
    'bytes=0-1,4-5',
    'bytes=0-1, 2-3',
    'bytes=5-2',
    'bytes=-',
    'bytes=',
    'bytes=a-b',
    'bytes=1 - 2',
    'bytes 0-1',
    'items=0-1',
    'none',
    '',
  ])('%j is ignored: the response is whole, in the preferred coding', async (range) => {
    const response = await request({ Range: range, 'Accept-Encoding': 'br' })
    expect([response.status, response.field('Content-Encoding')]).toEqual([200, 'br'])
    expect(response.field('Content-Range')).toBeUndefined()
  })

  test('on two lines counts as several, so it is ignored', async () => {
    const response = await request({ Range: 'bytes=0-1', range: 'bytes=4-5' })
    expect([response.status, response.body.length]).toEqual([200, size])
  })

  test('is ignored if the client excludes identity', async () => {
    const response = await request({ Range: 'bytes=0-9', 'Accept-Encoding': 'gzip, identity;q=0' })
    expect([response.status, response.field('Content-Encoding')]).toEqual([200, 'gzip'])
    const none = await request({ Range: 'bytes=0-9', 'Accept-Encoding': '*;q=0' })
    expect(none.status).toBe(406)
  })

  test.each([
    ['bytes=0-', 416],
    ['bytes=0-0', 416],
    ['bytes=-0', 416],
    ['bytes=-5', 200],
  ])('%s of an empty file is %d', async (range, status) => {
    const response = await request({ Range: range }, '/empty.txt')
    expect([response.status, response.body.length > 0]).toEqual([status, status === 416])
    expect(response.field('Content-Range')).toBe(status === 416 ? 'bytes */0' : undefined)
  })

  test('of a file of one byte is that byte', async () => {
    for (const range of ['bytes=0-0', 'bytes=-1', 'bytes=0-']) {
      const response = await request({ Range: range }, '/one.txt')
      expect([response.status, response.body.toString()]).toEqual([206, 'x'])
      expect([response.field('Content-Range'), response.field('Vary')]).toEqual(['bytes 0-0/1', undefined])
    }
  })

  test('is answered for an If-Range with the strong tag or the exact date, else ignored', async () => {
    const whole = await request({})
    const tag = whole.field('ETag') ?? ''
    const date = whole.field('Last-Modified') ?? ''
    const br = await request({ 'Accept-Encoding': 'br' })
    const statusWith = async (ifRange: string): Promise<number> => {
      const response = await request({ Range: 'bytes=0-9', 'If-Range': ifRange })
      return response.status
    }
    expect(await statusWith(tag)).toBe(206)
    expect(await statusWith(date)).toBe(206)
    for (const other of [
      `W/${tag}`,
      '"x"',
      br.field('ETag') ?? '',
      '*',
      '',
      'Sun, 06 Nov 1994 08:49:37 GMT',
    ]) {
      expect([other, await statusWith(other)]).toEqual([other, 200])
    }
  })

  test('is ignored for a date if a coding is sent because the client has part of that coding', async () => {
    const fields = { 'Accept-Encoding': 'br' }
    const whole = await request(fields)
    const date = whole.field('Last-Modified') ?? ''
    const resumed = await request({ ...fields, Range: 'bytes=10-', 'If-Range': date })
    expect([resumed.status, resumed.field('Content-Encoding')]).toEqual([200, 'br'])
    expect(resumed.body.equals(whole.body)).toBe(true)
  })

  test('beyond the end is ignored for an If-Range that does not match', async () => {
    const response = await request({ Range: `bytes=${size}-`, 'If-Range': '"x"' })
    expect(response.status).toBe(200)
  })

  test('is evaluated after the other conditions', async () => {
    const whole = await request({})
    const tag = whole.field('ETag') ?? ''
    const fields = { Range: `bytes=${size}-` }
    const notModified = await request({ ...fields, 'If-None-Match': tag })
    const failed = await request({ ...fields, 'If-Match': '"x"' })
    const resumed = await request({ Range: 'bytes=0-9', 'If-Match': tag, 'If-Unmodified-Since': 'x' })
    expect([notModified.status, failed.status, resumed.status]).toEqual([304, 412, 206])
  })

  test('reassembles the whole from parts', async () => {
    const parts: Buffer[] = []
    for (let first = 0; first < size; first += 70_001) {
      const response = await request({ Range: `bytes=${first}-${first + 70_000}` })
      parts.push(response.body)
    }
    expect(Buffer.concat(parts).equals(bytes)).toBe(true)
  })
})

describe('Accept-Ranges', () => {
  test.each([
    ['identity', 'bytes'],
    ['br', undefined],
    ['gzip', undefined],
  ])('of a 200 in %s is %s', async (coding, value) => {
    const response = await requestTwice(held.port, { target, fields: { 'Accept-Encoding': coding } })
    expect(response.field('Accept-Ranges')).toBe(value)
  })
})
