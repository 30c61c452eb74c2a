import { describe, expect, test } from 'vitest'
import {
  checkFlags,
  compressFlags,
  explainFlags,
  type Flag,
  type GivenFlags,
  missingFlags,
  reportFlags,
  serveFlags,
  type ServeFlags,
  unusedFlags,
} from './flags.ts'
import { carryFlags, generationsFlags, publishFlags, purgeFlags, rollbackFlags } from './store-flags.ts'

const defaults: ServeFlags = {
  port: 4173,
  host: '127.0.0.1',
  memoryBudget: 64,
  engine: 'auto',
  grace: 10_000,
}

describe('serveFlags', () => {
  const readable = Object.entries<Flag>(serveFlags).filter(
    ([, flag]) => flag.read !== undefined && Number.isFinite(flag.default) && flag.defaultText !== undefined,
  )

  test.each(readable)('shows a default of %s that it can parse', (_name, flag) => {
    expect(flag.read?.(flag.defaultText ?? '')).toBe(flag.default)
  })

  test('includes --grace in this check', () => {
    expect(readable.map(([name]) => name)).toContain('grace')
  })
})

test('all commands together have at most 85 flags with 53 names', () => {
  const tables: readonly object[] = [
    serveFlags,
    compressFlags,
    reportFlags,
    checkFlags,
    explainFlags,
    carryFlags,
    publishFlags,
    rollbackFlags,
    generationsFlags,
    purgeFlags,
  ]
  const names = tables.flatMap((table) => Object.keys(table))
  expect(names.length).toBeLessThanOrEqual(85)
  expect(new Set(names).size).toBeLessThanOrEqual(53)
})

describe('unusedFlags', () => {
  test.each<readonly [string, Partial<GivenFlags>, readonly string[], RegExp]>([
    [
      'a port with a socket',
      { socket: { path: '/s' } },
      ['port'],
      /^--port has no effect with --socket: remove one of them$/,
    ],
    [
      'a host with a socket',
      { socket: { path: '/s' } },
      ['host'],
      /^--host has no effect with --socket: remove one of them$/,
    ],
    ...(['port', 'host', 'socket'] as const).map(
      (name) =>
        [
          `${name} with the socket of a service manager`,
          { descriptor: 3, socket: { path: '/s' } },
          [name],
          / has no effect with LISTEN_FDS: remove one of them$/,
        ] as const,
    ),
    ...(['watch', 'fsFallback', 'verify', 'force'] as const).map(
      (name) =>
        [`${name} with a store`, { store: '/s' }, [name], / has no effect with --store[:,] ./] as const,
    ),
    ...(['storeCache', 'noDeltas'] as const).map(
      (name) => [`${name} without a store`, {}, [name], / has no effect without --store$/] as const,
    ),
  ])('warns about %s', (_what, flags, given, expected) => {
    const unused = unusedFlags({ ...defaults, ...flags }, (name) => given.includes(name))
    expect(unused).toEqual([expect.stringMatching(expected)])
  })

  test.each<readonly [string, Partial<GivenFlags>, readonly string[]]>([
    ['defaults', {}, []],
    ['a host for redirects with a socket', { socket: { path: '/s' }, redirectHttp: 80 }, ['host']],
    ['a port and a host', {}, ['port', 'host']],
    ['trusted proxies with a log', { trustProxy: '1', accessLog: 'json' }, ['trustProxy']],
    ['trusted proxies from the environment without a log', { trustProxy: '1' }, []],
    ['a port from the environment with a socket', { socket: { path: '/s' } }, []],
  ])('does not warn about %s', (_what, flags, given) => {
    expect(unusedFlags({ ...defaults, ...flags }, (name) => given.includes(name))).toEqual([])
  })
})

describe('missingFlags', () => {
  test.each<readonly [Partial<ServeFlags>, readonly string[]]>([
    [{}, []],
    [{ tlsCert: 'a', tlsKey: 'b', hsts: 'max-age=1' }, []],
    [{ tlsCert: 'a' }, ['--tls-cert needs --tls-key']],
    [{ tlsKey: 'b' }, ['--tls-key needs --tls-cert']],
    [
      { redirectHttp: 80, hsts: 'max-age=1' },
      ['--redirect-http needs --tls-cert', '--hsts needs --tls-cert'],
    ],
  ])('names every flag that %o lacks', (flags, expected) => {
    expect(missingFlags({ ...defaults, ...flags })).toEqual(expected)
  })
})
