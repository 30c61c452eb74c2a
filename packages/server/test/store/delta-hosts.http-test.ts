import express from 'express'
import { describe, expect, test } from 'vitest'
import { createHandler } from '../../src/hosts/handler.ts'
import { openLiveSite } from '../../src/live/open-live-site.ts'
import type { Site } from '../../src/site/site.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { createFakeDelta, offerOf, publishDeltas } from '../support/publish-deltas.ts'
import { rawRequest } from '../support/raw-request.ts'
import { makeStore } from '../support/start-from-store.ts'
import { hosts } from '../support/start-hosts.ts'
import { startListener } from '../support/start-listener.ts'

const old = compressibleText(4000, 'old')
const target = '/assets/a-2.js'

async function loadFromStore(): Promise<Site> {
  const place = await makeStore()
  const files = { 'index.html': 'page', 'assets/a-2.js': compressibleText(4000, 'new') }
  await publishDeltas(place.store, files, { 'assets/a-2.js': [old] })
  const live = await openLiveSite(place)
  live.close()
  return live.current
}

describe.each(Object.entries(hosts))('a site with deltas behind %s', (_name, start) => {
  test('sends the delta only to a client with its dictionary, with a correct Vary', async () => {
    const port = await start(await loadFromStore())
    const ask = (fields: Record<string, string>): ReturnType<typeof rawRequest> =>
      rawRequest(port, { target, fields })
    const offering = { 'accept-encoding': 'br, DCZ', 'AVAILABLE-Dictionary': offerOf(old) }
    const sent = await ask(offering)
    expect(sent.body.equals(createFakeDelta(old, 'dcz'))).toBe(true)
    expect([sent.field('Content-Encoding'), sent.field('Cache-Control'), sent.field('Vary')]).toEqual([
      'dcz',
      'private, max-age=31536000, immutable',
      'Accept-Encoding, Available-Dictionary',
    ])
    expect(sent.field('Use-As-Dictionary')).toBe('match="/assets/a-*.js", match-dest=("script")')
    const others = [
      { ...offering, 'accept-encoding': 'br' },
      { ...offering, 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' },
      { ...offering, 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'cors', Origin: 'https://a.example' },
    ]
    const codings = await Promise.all(
      others.map(async (fields) => (await ask(fields)).field('Content-Encoding')),
    )
    expect(codings).toEqual(['br', 'br', 'br'])
  })
})

test.each([
  ['/app', '/app'],
  ['/c++(x)*', String.raw`/c\\+\\+\\(x\\)\\*`],
  ['/a:b|"{c}', '/a*b***c*'],
])('the pattern of a site that Express mounts starts with the mount path: %s', async (mount, expected) => {
  const port = await startListener(express().use('/:mount', createHandler(await loadFromStore())))
  const { field } = await rawRequest(port, { target: mount + target })
  expect(field('Use-As-Dictionary')).toBe(`match="${expected}/assets/a-*.js", match-dest=("script")`)
})
