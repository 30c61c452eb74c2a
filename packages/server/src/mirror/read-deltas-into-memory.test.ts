import { describe, expect, test } from 'vitest'
import type { StoredBytes } from '../site/site.ts'
import { joinDeltas, selectWithinBudget } from './read-deltas-into-memory.ts'

const deltas = [
  { file: 'app', dictionary: 'old', coding: 'dcz', blob: { sha256: 'a', size: 30 } },
  { file: 'app', dictionary: 'old', coding: 'dcb', blob: { sha256: 'b', size: 20 } },
  { file: 'page', dictionary: 'older', coding: 'dcb', blob: { sha256: 'c', size: 10 } },
] as const

function bytesOf(size: number): StoredBytes {
  return { size, body: new Uint8Array(size) }
}

describe('selectWithinBudget', () => {
  test.each([
    [9, ''],
    [10, 'c'],
    [59, 'c b'],
    [60, 'c b a'],
  ])('keeps the smallest deltas in %d bytes', (room, kept) => {
    expect(
      selectWithinBudget(deltas, room)
        .map(({ blob }) => blob.sha256)
        .join(' '),
    ).toBe(kept)
  })
})

test('joinDeltas groups deltas by file and dictionary, without those whose bytes are missing', () => {
  const bodies = new Map([
    ['a', bytesOf(30)],
    ['b', bytesOf(20)],
  ])
  expect(joinDeltas(deltas, bodies)).toEqual(
    new Map([
      [
        'app',
        new Map([
          [
            'old',
            [
              { coding: 'dcz', sha256: 'a', bytes: bytesOf(30) },
              { coding: 'dcb', sha256: 'b', bytes: bytesOf(20) },
            ],
          ],
        ]),
      ],
    ]),
  )
})
