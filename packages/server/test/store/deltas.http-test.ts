import { rm, writeFile } from 'node:fs/promises'
import { createHook } from 'node:async_hooks'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { blobKey, openStore, rollback } from '@serve-dist/store'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { LiveSite } from '../../src/live/open-staged-site.ts'
import type { Site } from '../../src/site/site.ts'
import { openLiveSite } from '../../src/live/open-live-site.ts'
import { entityTagOf } from '../../src/protocol/entity-tag.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { parseMetrics } from '../support/parse-metrics.ts'
import { createFakeDelta, offerOf, publishDeltas, sha256Of } from '../support/publish-deltas.ts'
import { publishFiles } from '../support/publish-files.ts'
import { rawRequest } from '../support/raw-request.ts'
import type { RawResponse } from '../support/parse-response.ts'
import { makeStore, type StoreFixture, type StoreServer, start } from '../support/start-from-store.ts'

const [one, two, three] = ['one', 'two', 'three'].map((seed) => compressibleText(4000, seed))
const script = (text = ''): string => `/*${text}*/`
const files = (number: number, text = ''): Record<string, string> => ({
  'index.html': `page ${number}`,
  [`assets/a-${number}.js`]: script(text),
})
const a2 = '/assets/a-2.js'
const codings = { 'Accept-Encoding': 'gzip, br, zstd, dcb, dcz' }
const both = 'Accept-Encoding, Available-Dictionary'

/** Publishes two builds. The second has a delta from the first. */
async function makeDeltaStore(): Promise<StoreFixture> {
  const place = await makeStore()
  await publishDeltas(place.store, files(1, one))
  await publishDeltas(place.store, files(2, two), { 'assets/a-2.js': [script(one)] })
  return place
}

async function ask(
  { server }: StoreServer,
  target: string,
  fields: Record<string, string> = {},
): Promise<RawResponse> {
  return await rawRequest(Number(new URL(server.url).port), { target, fields: { ...codings, ...fields } })
}

function others({ fields }: RawResponse): unknown {
  return fields.filter(([name]) => !['Date', 'Vary', 'Use-As-Dictionary'].includes(name))
}

const offering = { 'Available-Dictionary': offerOf(script(one)) }

async function codingOf(
  started: StoreServer,
  target: string,
  offered = script(one),
): Promise<string | undefined> {
  const { field } = await ask(started, target, { 'Available-Dictionary': offerOf(offered) })
  return field('Content-Encoding')
}

describe('a server of a store with deltas', () => {
  test('sends a delta to clients with an earlier file, and the normal variant to all others', async () => {
    const place = await makeDeltaStore()
    const [started, without] = [await start(place), await start(place, { deltas: false })]
    const { status, field, body } = await ask(started, a2, offering)
    expect([status, field('Content-Encoding')]).toEqual([200, 'dcb'])
    expect(body.equals(createFakeDelta(script(one), 'dcb'))).toBe(true)
    expect(field('ETag')).toBe(entityTagOf(sha256Of(body)))
    expect(field('Cache-Control')).toBe('private, max-age=31536000, immutable')
    expect([field('Vary'), field('Use-As-Dictionary')]).toEqual([
      both,
      'match="/assets/a-*.js", match-dest=("script")',
    ])
    const again = await ask(started, a2, { ...offering, 'If-None-Match': field('ETag') ?? '' })
    expect([again.status, again.field('Vary')]).toEqual([304, both])

    const [plain, before] = [await ask(started, a2), await ask(without, a2, offering)]
    expect(plain.body.equals(before.body)).toBe(true)
    expect(others(plain)).toEqual(others(before))
    expect([before.field('Vary'), before.field('Use-As-Dictionary')]).toEqual(['Accept-Encoding', undefined])
  })

  test('announces no dictionary and sends no delta if the publisher makes none', async () => {
    const place = await makeStore()
    await publishFiles(place.store, files(1, one))
    const { field } = await ask(await start(place), '/assets/a-1.js', offering)
    expect([field('Vary'), field('Use-As-Dictionary')]).toEqual(['Accept-Encoding', undefined])
  })

  test('has the deltas of the current build after a swap and a rollback', async () => {
    const place = await makeDeltaStore()
    const started = await start(place)
    await publishDeltas(place.store, files(3, three), { 'assets/a-3.js': [script(two)] })
    const serves = async (page: string): Promise<void> =>
      await vi.waitFor(async () => expect((await ask(started, '/')).body.toString()).toBe(page))
    await serves('page 3')
    expect(await codingOf(started, '/assets/a-3.js', script(two))).toBe('dcb')
    // The second build's files are kept. They are no dictionaries and have no deltas.
    const kept = await ask(started, a2, offering)
    expect([kept.field('Content-Encoding'), kept.field('Vary')]).toEqual(['zstd', 'Accept-Encoding'])
    await rollback(await openStore(place.store))
    await serves('page 2')
    expect(await codingOf(started, a2)).toBe('dcb')
  })

  test('keeps the smallest deltas in memory, as many as fit', async () => {
    const place = await makeDeltaStore()
    const bytes = (memoryBudget: number): Promise<StoreServer> => start(place, { site: { memoryBudget } })
    const [dcb, dcz] = [createFakeDelta(script(one), 'dcb'), createFakeDelta(script(one), 'dcz')]
    expect(await codingOf(await bytes(0), a2)).toBe('zstd')
    expect((await ask(await bytes(0), a2)).field('Use-As-Dictionary')).toBeDefined()
    // The page's two variants have priority over any delta.
    const { summary } = await siteOf(place, { memoryBudget: 1e9, largestBody: 100 })
    const page = summary.bytesInMemory - dcb.length - dcz.length
    const site = await siteOf(place, { memoryBudget: page + dcb.length, largestBody: 100 })
    const held = [...site.files.values()].flatMap(({ deltas }) =>
      [...(deltas?.byDictionary.values() ?? [])].flat(),
    )
    expect(held.map(({ coding }) => coding)).toEqual(['dcb'])
  })

  test('starts without missing or damaged deltas, and sends the others', async () => {
    const place = await makeDeltaStore()
    const blobs = (['dcb', 'dcz'] as const).map((coding) =>
      join(place.store, blobKey(sha256Of(createFakeDelta(script(one), coding)))),
    )
    const [dcb = '', dcz = ''] = blobs
    await rm(dcb)
    await writeFile(dcb, 'spoilt')
    expect(await codingOf(await start(place), a2)).toBe('dcz')
    await rm(dcz)
    await rm(place.storeCache, { recursive: true })
    expect(await codingOf(await start(place), a2)).toBe('zstd')
  })

  test('starts without deltas if it cannot read their document, and logs a warning', async () => {
    const place = await makeDeltaStore()
    const store = await openStore(place.store)
    for await (const { key } of store.list('deltas/')) await store.put(key, Buffer.from('{"version":2}'))
    const started = await start(place)
    expect(await codingOf(started, a2)).toBe('zstd')
    expect(started.warnings.join()).toMatch(/serving without deltas: .*expected version 1/s)
  })

  test('starts with deltas from the cache while the store is unreachable', async () => {
    const place = await makeDeltaStore()
    const { server } = await start(place)
    await server.close()
    await rm(place.store, { recursive: true })
    expect(await codingOf(await start(place), a2)).toBe('dcb')
  })

  test('sends the same responses from a copy of its site', async () => {
    const place = await makeDeltaStore()
    const site = await siteOf(place, {})
    expect(structuredClone(site).table.get(a2)).toEqual(site.table.get(a2))
  })

  test('sends normal variants to a thousand clients with other dictionaries', async () => {
    const started = await start(await makeDeltaStore())
    let encoders = 0
    const hook = createHook({
      init(_id, type) {
        if (type === 'ZLIB') encoders += 1
      },
    }).enable()
    onTestFinished(() => void hook.disable())
    const { body, field } = await ask(started, a2)
    const right = offerOf(script(one))
    const wrong = [
      (index: number) => offerOf(`foreign ${index}`),
      () => offerOf(script(two)),
      (index: number) => `${right}, ${offerOf(String(index))}`,
      (index: number) => right.slice(0, index % right.length),
      (index: number) => `${right};n=${index}`,
      (index: number) => ':'.repeat(index + 1),
      (index: number) => `:${'A'.repeat(index)}=:`,
      (index: number) => `"${right}${index}"`,
    ]
    for (let index = 0; index < 1000; index += 50) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, at) => {
          const make = wrong[(index + at) % wrong.length]
          return ask(started, a2, { 'Available-Dictionary': make?.(index + at) ?? '' })
        }),
      )
      for (const answer of answers) {
        expect([answer.status, answer.field('Content-Encoding'), answer.field('ETag')]).toEqual([
          200,
          'zstd',
          field('ETag'),
        ])
        expect(answer.body.equals(body)).toBe(true)
      }
    }
    expect(await codingOf(started, a2)).toBe('dcb')
    expect(encoders).toBe(0)
    brotliCompressSync('The hook sees encoders.')
    expect(encoders).toBe(1)
  })

  test('counts deltas by coding, and the bytes that they save', async () => {
    const started = await start(await makeDeltaStore(), {
      operations: { ops: { host: '127.0.0.1', port: 0 } },
    })
    const { body } = await ask(started, a2, offering)
    const url = new URL('/metrics', started.server.opsUrl)
    const metrics = parseMetrics(await (await fetch(url)).text())
    const labels = 'status="2xx",coding="dcb",cache="immutable"'
    expect(metrics.get(`serve_dist_requests_total{${labels}}`)).toBe(1)
    expect(metrics.get('serve_dist_saved_bytes_total')).toBe(script(two).length - body.length)
  })
})

async function siteOf(
  place: StoreFixture,
  options: { memoryBudget?: number; largestBody?: number },
): Promise<Site> {
  const live: LiveSite = await openLiveSite({ ...place, ...options })
  live.close()
  return live.current
}
