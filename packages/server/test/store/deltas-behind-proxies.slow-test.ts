import { describe, expect, onTestFinished, test } from 'vitest'
import { type Proxy, type ProxyOptions, startNginx, startVarnish } from '../../../../e2e/src/start-proxy.ts'
import { findProgram } from '../../../../scripts/find-program.mjs'
import { compressibleText } from '../support/compressible-text.ts'
import { createFakeDelta, offerOf, publishDeltas } from '../support/publish-deltas.ts'
import { rawRequest } from '../support/raw-request.ts'
import { makeStore, start } from '../support/start-from-store.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const [older, old, now] = ['older', 'old', 'now'].map((seed) => compressibleText(4000, seed))
const target = '/assets/a-3.js'

const proxies = [
  {
    name: 'nginx',
    program: await findProgram('nginx'),
    start: (options: ProxyOptions): Promise<Proxy> => startNginx('serve-dist-cache.conf', options),
  },
  {
    name: 'Varnish',
    program: await findProgram('varnishd'),
    start: (options: ProxyOptions): Promise<Proxy> => startVarnish(options, '', ['http_gzip_support=off']),
  },
]
const isRequired = process.platform === 'linux' && process.env['CI'] !== undefined

describe.each(proxies)('behind $name, which caches responses', ({ name, program, start: startProxy }) => {
  test.skipIf(program === undefined && !isRequired).each([
    ['private', false],
    ['in shared caches', true],
  ])('a delta %s reaches only clients that offered its dictionary', async (_kept, sharedCache) => {
    const place = await makeStore()
    const files = { 'index.html': 'page', 'assets/a-3.js': now ?? '' }
    await publishDeltas(place.store, files, { 'assets/a-3.js': [older ?? '', old ?? ''] })
    const { server } = await start(place, { site: { rules: { sharedCache } } })
    const directory = await temporaryDirectory()
    const origin = new URL(server.url.replace('localhost', '127.0.0.1'))
    const proxy = await startProxy({ program: program ?? name, origin, directory })
    onTestFinished(() => proxy.stop())
    const { port } = proxy
    const plain = await rawRequest(Number(origin.port), { target, fields: { 'Accept-Encoding': 'br' } })

    const clients = ['br', 'br, dcb', 'br, dcz', 'gzip', 'dcb, dcz, br'].flatMap((accepted) =>
      [undefined, older, old, 'foreign'].map((dictionary) => ({ accepted, dictionary })),
    )
    // Run in both orders because the first response may be the one that is cached.
    for (const { accepted, dictionary } of [...clients, ...clients.toReversed(), ...clients]) {
      const { body, field } = await rawRequest(port, {
        target,
        fields: {
          'Accept-Encoding': accepted,
          ...(dictionary !== undefined && { 'Available-Dictionary': offerOf(dictionary) }),
        },
      })
      const coding = field('Content-Encoding') ?? 'identity'
      const isDelta = coding === 'dcb' || coding === 'dcz'
      const mayBeDelta = accepted.includes('dc') && (dictionary === older || dictionary === old)
      expect({ accepted, dictionary, isDelta }).toEqual({ accepted, dictionary, isDelta: mayBeDelta })
      expect(accepted).toContain(coding)
      const expected = isDelta ? createFakeDelta(dictionary ?? '', coding) : plain.body
      expect(body.equals(expected) || coding === 'gzip').toBe(true)
    }
  })
})
