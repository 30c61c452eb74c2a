import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { serve } from '../../src/serve/serve.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { http2Request } from '../support/http2-request.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { createFakeDelta, offerOf, publishDeltas } from '../support/publish-deltas.ts'
import { rawRequest } from '../support/raw-request.ts'
import { replaceWorker } from '../support/replace-worker.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { makeStore, type StoreFixture } from '../support/start-from-store.ts'
import { endCommand } from '../support/stop-command.ts'
import { testedEngine } from '../support/tested-engine.ts'
import { twoProcessFlags } from '../support/two-process-flags.ts'

/** Starting Node is slow on a busy machine. */
const patience = { timeout: 20_000, interval: 50 }
const [first = '', second = '', third = ''] = ['one', 'two', 'three'].map((seed) =>
  compressibleText(4000, seed),
)
const filesOf = (number: number, text: string): Record<string, string> => ({
  'index.html': `page ${number}`,
  [`assets/a-${number}.js`]: text,
})
const codings = 'gzip, br, zstd, dcz'

/** Publishes two builds. The second has a delta from the first. */
async function makeDeltaStore(): Promise<StoreFixture> {
  const place = await makeStore()
  await publishDeltas(place.store, filesOf(1, first))
  await publishDeltas(place.store, filesOf(2, second), { 'assets/a-2.js': [first] })
  return place
}

/** Returns the codings that 16 new connections get. They reach all workers. */
async function codingsOf(port: number, target: string, dictionary: string): Promise<readonly unknown[]> {
  const fields = { 'Accept-Encoding': codings, 'Available-Dictionary': offerOf(dictionary) }
  const answers = Array.from({ length: 16 }, async () => {
    const { status, field, body } = await rawRequest(port, { target, fields })
    const isDelta = body.equals(createFakeDelta(dictionary, 'dcz'))
    return `${status} ${field('Content-Encoding')} ${isDelta ? 'delta' : 'whole'}, ${field('Vary')}`
  })
  return [...new Set(await Promise.all(answers))]
}

const both = 'Accept-Encoding, Available-Dictionary'
const delta = [`200 dcz delta, ${both}`]
const plain = [`200 zstd whole, ${both}`]

describe.skipIf(process.platform !== 'linux')('serve-dist --store --workers with deltas', () => {
  test('sends deltas from every worker, also after a swap and a crash', async () => {
    const { store, storeCache } = await makeDeltaStore()
    const words = ['--store', store, '--store-cache', storeCache, ...(await twoProcessFlags())]
    const command = spawnCommand(words)
    const { port } = await command.listening
    expect(await codingsOf(port, '/assets/a-2.js', first)).toEqual(delta)
    expect(await codingsOf(port, '/assets/a-2.js', third)).toEqual(plain)
    await publishDeltas(store, filesOf(3, third), { 'assets/a-3.js': [second] })
    await vi.waitFor(
      async () => expect(await codingsOf(port, '/assets/a-3.js', second)).toEqual(delta),
      patience,
    )
    // Kept builds have no deltas.
    expect(await codingsOf(port, '/assets/a-2.js', first)).toEqual(['200 zstd whole, Accept-Encoding'])
    await replaceWorker(command.child.pid)
    await vi.waitFor(
      async () => expect(await codingsOf(port, '/assets/a-3.js', second)).toEqual(delta),
      patience,
    )
    await endCommand(command)
  })

  test('sends no deltas from any worker with --no-deltas', async () => {
    const { store, storeCache } = await makeDeltaStore()
    const words = ['--store', store, '--store-cache', storeCache, ...(await twoProcessFlags()), '--no-deltas']
    const command = spawnCommand(words)
    const { port } = await command.listening
    expect(await codingsOf(port, '/assets/a-2.js', first)).toEqual(['200 zstd whole, Accept-Encoding'])
    await endCommand(command)
  })
})

describe('serve with deltas over HTTP/2', () => {
  test('sends a delta only to a client that offers its dictionary', async () => {
    const server = await serve({
      ...(await makeDeltaStore()),
      port: 0,
      gracePeriod: 100,
      engine: testedEngine,
      tls: await writeCertificate(),
    })
    onTestFinished(() => server.close())
    const port = Number(new URL(server.url).port)
    const ask = async (fields: Record<string, string>): ReturnType<typeof http2Request> =>
      await http2Request(port, {
        target: '/assets/a-2.js',
        fields: { 'accept-encoding': codings, ...fields },
      })
    const offering = { 'available-dictionary': offerOf(first) }
    const sent = await ask(offering)
    expect(sent.body.equals(createFakeDelta(first, 'dcz'))).toBe(true)
    expect(['content-encoding', 'cache-control', 'vary', 'use-as-dictionary'].map(sent.field)).toEqual([
      'dcz',
      'private, max-age=31536000, immutable',
      both,
      'match="/assets/a-*.js", match-dest=("script")',
    ])
    const again = await ask({ ...offering, 'if-none-match': sent.field('etag') ?? '' })
    expect([again.status, again.field('cache-control'), again.body.length]).toEqual([
      304,
      'private, max-age=31536000, immutable',
      0,
    ])
    const others = [
      { 'if-none-match': sent.field('etag') ?? '' },
      { 'available-dictionary': offerOf(second) },
      { ...offering, 'accept-encoding': 'zstd' },
      { ...offering, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
      { ...offering, range: 'bytes=0-9', 'if-range': sent.field('etag') ?? '' },
    ]
    for (const fields of others) {
      const { status, field } = await ask(fields)
      expect([status, field('content-encoding'), field('vary')]).toEqual([200, 'zstd', both])
    }
  })
})
