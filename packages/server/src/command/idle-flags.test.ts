import { describe, expect, test } from 'vitest'
import { idleFlags } from './idle-flags.ts'
import type { ServeFlags } from './serve-command.ts'

const defaults: ServeFlags = {
  port: 4173,
  host: '127.0.0.1',
  verify: 'size',
  memoryBudget: 64,
  largestBody: Number.POSITIVE_INFINITY,
  workers: 1,
  grace: 10_000,
  socketMode: 0o660,
}

describe('idleFlags', () => {
  test.each<readonly [string, Partial<ServeFlags>, readonly string[], RegExp]>([
    ['a mode without a socket', {}, ['socketMode'], /^--socket-mode does nothing.*add --socket/],
    [
      'a port beside a socket',
      { socket: '/s' },
      ['port'],
      /^--port does nothing.*--socket <path> listens instead/,
    ],
    [
      'a host beside a socket',
      { socket: '/s' },
      ['host'],
      /^--host does nothing.*--socket <path> listens instead/,
    ],
    ...(['port', 'host', 'socket', 'socketMode'] as const).map(
      (name) =>
        [
          `${name} beside a socket of a service manager`,
          { descriptor: 3, socket: '/s' },
          [name],
          / does nothing: LISTEN_FDS listens instead; leave one out$/,
        ] as const,
    ),
    [
      'trust without a log',
      { trustProxy: '1' },
      ['trustProxy'],
      /^--trust-proxy does nothing.*add --access-log/,
    ],
    ['a body beyond the budget', { largestBody: 65 }, ['largestBody'], /^--largest-body does nothing/],
  ])('tells of %s', (_what, flags, given, expected) => {
    const idle = idleFlags({ ...defaults, ...flags }, (name) => given.includes(name))
    expect(idle).toEqual([expect.stringMatching(expected)])
  })

  test.each<readonly [string, Partial<ServeFlags>, readonly string[]]>([
    ['defaults', {}, []],
    ['a host for redirects beside a socket', { socket: '/s', redirectHttp: 80 }, ['host']],
    ['a socket with its mode', { socket: '/s' }, ['socketMode']],
    ['a port and a host', {}, ['port', 'host']],
    ['trust with a log', { trustProxy: '1', accessLog: 'json' }, ['trustProxy']],
    ['trust of the environment without a log', { trustProxy: '1' }, []],
    ['a body as large as the budget', { largestBody: 64 }, ['largestBody']],
    ['a port of the environment beside a socket', { socket: '/s' }, []],
  ])('is silent about %s', (_what, flags, given) => {
    expect(idleFlags({ ...defaults, ...flags }, (name) => given.includes(name))).toEqual([])
  })
})
