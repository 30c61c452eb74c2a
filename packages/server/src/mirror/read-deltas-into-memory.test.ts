import { describe, expect, test } from 'vitest'
import type { StoredBytes } from '../site/site.ts'
import { joinDeltas, selectWithinBudget } from './read-deltas-into-memory.ts'

const deltas = [
  { file: 'app', dictionary: 'old', coding: 'dcz', blob: { sha256: 'a', size: 30 } },
  { file: 'app', dictionary: 'old', coding: 'dcb', blob: { sha256: 'b', size: 20 } },
  { file: 'page', dictionary: 'older', coding: 'dcb', blob: { sha256: 'c', size: 10 } },
] as const

function bytesWith(header: string): StoredBytes {
  return { size: 50, body: Buffer.alloc(50, header, 'hex') }
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

test('joinDeltas groups deltas by file and dictionary, without missing bytes and without other headers', () => {
  const dictionary = '0a'.repeat(32)
  const dcz = bytesWith(`5e2a4d1820000000${dictionary}`)
  const dcb = bytesWith(`ff444342${dictionary}`)
  const named = [
    { file: 'app', dictionary, coding: 'dcz', blob: { sha256: 'a', size: 50 } },
    { file: 'app', dictionary, coding: 'dcb', blob: { sha256: 'b', size: 50 } },
    { file: 'page', dictionary, coding: 'dcb', blob: { sha256: 'c', size: 50 } },
    { file: 'page', dictionary, coding: 'dcb', blob: { sha256: 'a', size: 50 } },
    { file: 'page', dictionary: '0b'.repeat(32), coding: 'dcz', blob: { sha256: 'a', size: 50 } },
  ] as const
  const bodies = new Map([
    ['a', dcz],
    ['b', dcb],
  ])
  const ofApp = [
    { coding: 'dcz', sha256: 'a', bytes: dcz },
    { coding: 'dcb', sha256: 'b', bytes: dcb },
  ]
  expect(joinDeltas(named, bodies)).toEqual(new Map([['app', new Map([[dictionary, ofApp]])]]))
})
