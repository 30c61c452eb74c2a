import { describe, expect, test } from 'vitest'
import { resolveHandlerOptions } from '../hosts/handler-options.ts'
import { resolveLiveSiteOptions } from '../load/load-options.ts'
import { resolveServeOptions, type ServeOptions } from './serve-options.ts'

describe('resolveServeOptions', () => {
  test('fills in the defaults', () => {
    expect(resolveServeOptions({})).toEqual({
      directory: 'dist',
      port: 4173,
      host: '127.0.0.1',
      socketMode: 0o660,
      address: { port: 4173, host: '127.0.0.1' },
      gracePeriod: 10_000,
      site: resolveLiveSiteOptions({}),
      handler: resolveHandlerOptions({}),
      operations: {},
      engine: 'auto',
    })
  })

  test.each([0, 1, 65_535])('accepts port %d', (port) => {
    expect(resolveServeOptions({ port }).port).toBe(port)
  })

  test.each<readonly [ServeOptions, unknown]>([
    [
      { port: 80, host: '::' },
      { port: 80, host: '::' },
    ],
    [
      { socket: '/run/a.sock', port: 80 },
      { socket: '/run/a.sock', socketMode: 0o660 },
    ],
    [{ descriptor: 3, socket: '/run/a.sock' }, { descriptor: 3 }],
  ])('resolves %o to the address %o', (options, address) => {
    expect(resolveServeOptions(options).address).toEqual(address)
  })

  test('rejects a socket whose path the system would truncate', () => {
    expect(() => resolveServeOptions({ socket: 'x'.repeat(108) })).toThrow(/^socket: expected a path of/)
  })

  test.each([
    ['{"socket":"a","socketMode":512}', 'socketMode: expected permissions from 0 to 0o777, found 512'],
    ['{"descriptor":-1}', 'descriptor: expected the number of an open descriptor, found -1'],
    ['{"port":-1}', 'port: expected a whole number from 0 to 65535, found -1'],
    ['{"port":65536}', 'port: expected a whole number from 0 to 65535, found 65536'],
    ['{"host":""}', 'host: expected an address such as 127.0.0.1 or 0.0.0.0, found ""'],
    ['{"port":80.5}', 'port: expected a whole number from 0 to 65535, found 80.5'],
    ['{"port":"80"}', 'port: expected a whole number from 0 to 65535, found "80"'],
    ['{"handler":{"fallback":"all"}}', 'handler.fallback: expected one of "spa", "404", "none", found "all"'],
    ['{"deltas":true}', 'deltas: this option needs a store. Set store, or remove this option.'],
    ['{"gracePeriod":-1}', 'gracePeriod: expected a number of milliseconds, 0 or more, found -1'],
    ['{"gracePeriod":"soon"}', 'gracePeriod: expected a number of milliseconds, 0 or more, found "soon"'],
  ])('rejects %s', (json, message) => {
    const given: ServeOptions = JSON.parse(json)
    expect(() => resolveServeOptions(given)).toThrow(
      expect.objectContaining({ code: 'SD_OPTION_INVALID', message }),
    )
  })
})
