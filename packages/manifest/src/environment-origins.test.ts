import { describe, expect, test } from 'vitest'
import { environmentOrigins } from './environment-origins.ts'

const variables = { API_URL: { type: 'string' } } as const

function originsOf(value: string): string | readonly string[] | undefined {
  const rules = [{ 'connect-src': [{ env: 'API_URL' }] }]
  const { origins, problems } = environmentOrigins(rules, { prefix: 'APP_', variables }, { API_URL: value })
  return problems.length > 0 ? problems : origins.get('API_URL')
}

const noUrl =
  'APP_API_URL: its origin is a source of connect-src: expected a URL that starts with https://, http://, wss:// or ws:// and a host name'

describe('environmentOrigins', () => {
  test.each([
    ['https://a.example/v1?key=1#x', 'https://a.example'],
    ['HTTPS://user:secret@A.example:443', 'https://a.example'],
    ['wss://bücher.example:8443', 'wss://xn--bcher-kva.example:8443'],
    ['', undefined],
  ])('returns the origin of %j', (value, origin) => {
    expect(originsOf(value)).toBe(origin)
  })

  test.each([
    'a.example',
    '//a.example',
    'ftp://a.example',
    'javascript:1',
    'blob:https://a.example/x',
    'https://*',
    'https://%2a.example',
    'https://a.example; script-src *',
  ])('rejects %j', (value) => {
    expect(originsOf(value)).toEqual([noUrl])
  })

  test.each([
    ['http://api_server:8080', 'browsers ignore a host with "_" in its name'],
    ['http://[::1]:8080', 'browsers do not match IPv6 addresses. Write a host name.'],
    ['https://a;b', expect.stringContaining('a source cannot contain ";"')],
    ["https://'self'", expect.stringMatching(/^expected a source such as/)],
  ])('explains why browsers reject %j', (value, why) => {
    const [problem = ''] = originsOf(value) ?? []
    expect(problem.replace('APP_API_URL: its origin is a source of connect-src: ', '')).toEqual(why)
  })
})
