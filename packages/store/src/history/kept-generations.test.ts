import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type History, layoutVersion, type NamedBlob } from '../layout.ts'
import { defaultRetention, keptGenerations, type Retention } from './kept-generations.ts'
import { selectRowToRestore, withPublished, withRestored } from './next-history.ts'

const day = 24 * 60 * 60 * 1000
const start = Date.parse('2026-01-01T00:00:00Z')

function idOf(index: number): string {
  return String(index).repeat(32).slice(0, 32)
}

/** Publishes builds 1 to `count`, one per day. */
function daily(count: number): History {
  let history: History = { version: layoutVersion, history: [] }
  for (let index = 1; index <= count; index += 1) {
    history = withPublished(history, idOf(index), start + index * day)
  }
  return history
}

/** Each build has 10 bytes of its own and 5 shared bytes. */
const blobs: ReadonlyMap<string, readonly NamedBlob[]> = new Map(
  Array.from({ length: 10 }, (_, index) => [
    idOf(index),
    [
      { sha256: `own ${index}`, size: 10 },
      { sha256: 'shared', size: 5 },
    ],
  ]),
)

const none: Retention = { generations: 0, age: 0, bytes: Infinity }

/** Returns the first digits of the kept builds after build `count` was published. */
function kept(history: History, retention: Partial<Retention>, now = start + 9 * day): string {
  const { ids } = keptGenerations(history, blobs, { ...none, ...retention }, now)
  return ids.map(([digit]) => digit).join('')
}

describe('keptGenerations', () => {
  test('keeps only the current build if all limits are 0', () => {
    expect(kept(daily(9), {})).toBe('9')
  })

  test('keeps the most recently replaced builds, up to the limit', () => {
    expect(kept(daily(9), { generations: 5 })).toBe('987654')
    expect(kept(daily(3), { generations: 5 })).toBe('321')
  })

  test('keeps any number of builds that were replaced within the age limit', () => {
    // Build 8 was replaced just now, build 5 three days ago.
    expect(kept(daily(9), { age: 3 * day })).toBe('9876')
    expect(kept(daily(9), { age: 3 * day + 1 })).toBe('98765')
    expect(kept(daily(9), { age: 3 * day, generations: 5 })).toBe('987654')
  })

  test('measures the age from the replacement of a build, not from its publish', () => {
    const history = withPublished(daily(1), idOf(2), start + 30 * day)
    expect(kept(history, { age: day }, start + 30.5 * day)).toBe('21')
    expect(kept(history, { age: day }, start + 31 * day)).toBe('2')
  })

  test('measures the age of a build from the last time that it was current', () => {
    const row = selectRowToRestore(daily(3), idOf(1))
    if (row === undefined) throw new Error('build 1 is there')
    const history = withPublished(withRestored(daily(3), row, start + 4 * day), idOf(4), start + 5 * day)
    expect(kept(history, { generations: 1 })).toBe('41')
    expect(kept(history, { generations: 2 })).toBe('413')
  })

  test('deletes the oldest builds beyond the size limit and counts each blob once', () => {
    expect(kept(daily(9), { generations: 9, bytes: 45 })).toBe('9876')
    expect(kept(daily(9), { generations: 9, bytes: 44 })).toBe('987')
    expect(keptGenerations(daily(9), blobs, { ...none, generations: 3 }, start + 9 * day).bytes).toBe(45)
  })

  test('keeps the current build and the one before it beyond the size limit, and reports it', () => {
    const retention = { ...none, generations: 9, bytes: 24 }
    const result = keptGenerations(daily(9), blobs, retention, start + 9 * day)
    expect(result).toEqual({ ids: [idOf(9), idOf(8)], bytes: 25, isAboveCap: true })
    expect(keptGenerations(daily(9), blobs, { ...retention, bytes: 25 }, start + 9 * day).isAboveCap).toBe(
      false,
    )
  })

  test('keeps five builds and those of one week by default', () => {
    expect(kept(daily(9), defaultRetention)).toBe('98765432')
    expect(kept(daily(9), defaultRetention, start + 20 * day)).toBe('987654')
  })

  test('always keeps the current build, and never more builds than without a size limit', () => {
    const retention = fc.record({ generations: fc.nat(12), age: fc.nat(12 * day), bytes: fc.nat(200) })
    fc.assert(
      fc.property(retention, fc.integer({ min: 1, max: 9 }), fc.nat(20), (wanted, count, days) => {
        const now = start + (count + days) * day
        const all = keptGenerations(daily(count), blobs, { ...wanted, bytes: Infinity }, now).ids
        const { ids, bytes, isAboveCap } = keptGenerations(daily(count), blobs, wanted, now)
        expect(ids).toEqual(all.slice(0, ids.length))
        expect(ids[0]).toBe(idOf(count))
        expect(isAboveCap ? ids.length : 0).toBeLessThanOrEqual(2)
        expect(isAboveCap || bytes <= wanted.bytes).toBe(true)
      }),
    )
  })
})
