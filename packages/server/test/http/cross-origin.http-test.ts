import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import type { RawResponse } from '../support/parse-response.ts'
import { requestTwice } from '../support/request-twice.ts'
import { startServer } from '../support/start-server.ts'

const opened = {
  'Access-Control-Allow-Origin': '*',
  'Timing-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}
const preflight = {
  Origin: 'https://other.example',
  'Access-Control-Request-Method': 'GET',
  'Access-Control-Request-Headers': 'if-none-match, range, x-anything',
}

let port: number
beforeAll(async () => {
  const directory = await buildFixture({
    'index.html': 'page',
    'assets/app.js': compressibleText(3000),
    'fonts/a.woff2': 'font',
    'fonts/own.woff2': 'font',
  })
  const server = await startServer(directory, {
    site: {
      rules: {
        cors: ['assets/**', '/fonts/*'],
        securityHeaders: true,
        headers: {
          'fonts/own.woff2': { 'Access-Control-Allow-Origin': 'https://a.example', Vary: 'Origin' },
        },
      },
    },
  })
  port = server.port
})

function crossOriginFieldsOf(response: RawResponse): object {
  return Object.fromEntries(Object.keys(opened).map((name) => [name, response.field(name)]))
}

describe('files for other origins', () => {
  test.each([
    ['a 200', {}, 200],
    ['a 200 in a coding', { 'Accept-Encoding': 'br' }, 200],
    ['a 206', { Range: 'bytes=0-1' }, 206],
    ['a 304', { 'If-None-Match': '*' }, 304],
  ])('allow all origins in %s', async (_what, fields, status) => {
    const response = await requestTwice(port, { target: '/assets/app.js', fields })
    expect([response.status, crossOriginFieldsOf(response)]).toEqual([status, opened])
    expect(response.field('Vary')).toBe('Accept-Encoding')
  })

  test('are only those that match the globs', async () => {
    const response = await requestTwice(port, { target: '/' })
    expect(crossOriginFieldsOf(response)).toEqual({
      'Access-Control-Allow-Origin': undefined,
      'Timing-Allow-Origin': undefined,
      'Cross-Origin-Resource-Policy': 'same-origin',
    })
  })

  test('answer each preflight, for all methods and fields', async () => {
    const response = await requestTwice(port, {
      method: 'OPTIONS',
      target: '/assets/app.js',
      fields: preflight,
    })
    expect(response.status).toBe(204)
    expect(response.fields.filter(([name]) => /^(?:allow|access|vary|cache)/i.test(name))).toEqual([
      ['Allow', 'GET, HEAD, OPTIONS'],
      ['Cache-Control', 'no-store'],
      ['Access-Control-Allow-Methods', 'GET, HEAD, OPTIONS'],
      ['Access-Control-Allow-Headers', '*'],
      ['Access-Control-Max-Age', '86400'],
      ['Access-Control-Allow-Origin', '*'],
    ])
  })

  test('use the origin of a field rule, also in a preflight', async () => {
    const request = { target: '/fonts/own.woff2' }
    for (const given of [request, { ...request, method: 'OPTIONS', fields: preflight }]) {
      const response = await requestTwice(port, given)
      expect(response.field('Access-Control-Allow-Origin')).toBe('https://a.example')
      expect(response.field('Vary')).toBe('Origin')
    }
  })

  test('other files have no preflight: OPTIONS only lists the methods', async () => {
    const response = await requestTwice(port, { method: 'OPTIONS', target: '/', fields: preflight })
    expect([response.status, response.field('Allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
    expect(response.fields.filter(([name]) => name.startsWith('Access-'))).toEqual([])
  })
})
