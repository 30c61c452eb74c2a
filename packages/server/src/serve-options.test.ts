import { describe, expect, test } from 'vitest'
import { resolveServeOptions, type ServeOptions } from './serve-options.ts'

describe('resolveServeOptions', () => {
  test('fills in the defaults', () => {
    expect(resolveServeOptions({})).toEqual({
      directory: 'dist',
      port: 4173,
      host: '127.0.0.1',
      gracePeriod: 10_000,
      site: {},
      handler: {},
    })
  })

  test.each([0, 1, 65_535])('accepts port %d', (port) => {
    expect(resolveServeOptions({ port }).port).toBe(port)
  })

  test.each([
    ['{"port":-1}', 'port: expected a whole number from 0 to 65535, found -1'],
    ['{"port":65536}', 'port: expected a whole number from 0 to 65535, found 65536'],
    ['{"host":""}', 'host: expected an address such as 127.0.0.1 or 0.0.0.0, found ""'],
    ['{"port":80.5}', 'port: expected a whole number from 0 to 65535, found 80.5'],
    ['{"port":"80"}', 'port: expected a whole number from 0 to 65535, found 80'],
    ['{"gracePeriod":-1}', 'gracePeriod: expected a number of milliseconds, 0 or more, found -1'],
    ['{"gracePeriod":"soon"}', 'gracePeriod: expected a number of milliseconds, 0 or more, found soon'],
  ])('refuses %s', (json, message) => {
    const given: ServeOptions = JSON.parse(json)
    expect(() => resolveServeOptions(given)).toThrow(new TypeError(message))
  })
})
