import { describe, expect, test } from 'vitest'
import { idleOptions } from './idle-options.ts'
import type { ServeOptions } from './serve-options.ts'

const tls = { cert: 'cert.pem', key: 'key.pem', redirectPort: 80 }

describe('idleOptions', () => {
  test.each<readonly [string, ServeOptions, string]>([
    [
      'a mode without a socket',
      { socketMode: 0o600 },
      'socketMode does nothing: there is no socket; add socket, or leave it out',
    ],
    [
      'a port beside a socket',
      { socket: '/s', port: 80 },
      'port does nothing: socket listens instead; leave one out',
    ],
    [
      'a host beside a socket',
      { socket: '/s', host: '::1' },
      'host does nothing: socket listens instead; leave one out',
    ],
    [
      'a socket beside a descriptor',
      { descriptor: 3, socket: '/s' },
      'socket does nothing: descriptor listens instead; leave one out',
    ],
    [
      'trust without a log',
      { operations: { trustProxy: 1 } },
      'operations.trustProxy does nothing: addresses are for the log alone; add operations.accessLog, or leave it out',
    ],
    [
      'a body beyond the default budget',
      { site: { largestBody: 65 * 1024 * 1024 } },
      'site.largestBody does nothing: site.memoryBudget is smaller; raise the budget, or leave site.largestBody out',
    ],
  ])('tells of %s', (_what, options, expected) => {
    expect(idleOptions(options)).toEqual([expected])
  })

  test.each<readonly [string, ServeOptions]>([
    ['defaults', {}],
    ['a socket with its mode', { socket: '/s', socketMode: 0o600 }],
    ['a port and a host', { port: 80, host: '::1' }],
    ['a host for redirects beside a socket', { socket: '/s', host: '::1', tls }],
    ['trust with a log', { operations: { trustProxy: 1, accessLog: 'json' } }],
    ['no limit but the budget', { site: { memoryBudget: 0, largestBody: Number.POSITIVE_INFINITY } }],
  ])('is silent about %s', (_what, options) => {
    expect(idleOptions(options)).toEqual([])
  })
})
