import { describe, expect, test } from 'vitest'
import type { Site } from '../site/site.ts'
import type { EngineAnswer, EngineAnswers } from '../transport/transport.ts'
import { fakeSite } from '../../test/support/fake-site.ts'
import type { Exchange } from './exchange.ts'
import { observeEngine } from './observe-engine.ts'
import { createAddressReader } from './trust-proxy.ts'

const answer: EngineAnswer = {
  class: 0,
  request: { method: 'GET', url: '/', httpVersion: '1.1', rawHeaders: [] },
  peer: '::ffff:10.0.0.1',
  ended: 0,
  milliseconds: 1,
  bytes: 1,
  isAborted: false,
}

/** Starts an observer of a source of answers and collects its records. */
function follow(takeEnded: EngineAnswers['takeEnded'], current: () => Site | undefined) {
  const noted: { readonly exchange: Exchange; readonly site: Site | undefined }[] = []
  const refused: Exchange[] = []
  const engine = observeEngine({
    durationBuckets: [],
    note: (exchange, site) => void noted.push({ exchange, site }),
    current,
    addressOf: createAddressReader(undefined),
    observers: [{ end: (exchange) => void refused.push(exchange) }],
  })
  engine.follow({
    takeEnded,
    readCounts() {
      throw new Error('nobody asks')
    },
  })
  return { engine, noted, refused }
}

describe('observeEngine', () => {
  test('records any number of answers with the site at their ends', () => {
    const [before, after] = [fakeSite({ a: 'before' }), fakeSite({ a: 'after' })]
    let current = before
    let waiting = 3
    const take = (): Iterator<EngineAnswer> => Array.from({ length: waiting }, () => answer).values()
    const { engine, noted } = follow(take, () => current)
    engine.noteSwap()
    current = after
    waiting = 2
    engine.close()
    expect(noted.map(({ site }) => site)).toEqual([before, before, before, after, after])
  })

  test('stops with the answers that have ended, although the engine continues to answer', () => {
    const { engine, noted } = follow(
      () => [answer].values(),
      () => undefined,
    )
    engine.close()
    expect(noted).toHaveLength(1)
  })

  test('reports the client of a refused request like other clients', () => {
    const { engine, noted, refused } = follow(
      () => [answer].values(),
      () => undefined,
    )
    engine.noteRefusal({ status: 408, error: 'ERR_HTTP_REQUEST_TIMEOUT', address: answer.peer })
    engine.close()
    expect([noted[0]?.exchange.address, refused[0]?.address]).toEqual(['10.0.0.1', '10.0.0.1'])
  })
})
