import { describe, expect, test } from 'vitest'
import { chooseEvicted } from './choose-evicted.ts'

const blobs = [
  { sha256: 'newest', size: 10, used: 4 },
  { sha256: 'oldest', size: 10, used: 1 },
  { sha256: 'needed', size: 10, used: 2 },
  { sha256: 'older', size: 10, used: 3 },
]

function evicted(most: number): readonly string[] {
  return chooseEvicted(blobs, { most, isNeeded: (sha256) => sha256 === 'needed' }).map(({ sha256 }) => sha256)
}

describe('chooseEvicted', () => {
  test.each([
    ['none while all fit', 40, []],
    ['the one that nobody has used for longest', 39, ['oldest']],
    ['as many as it takes, and none that is needed', 20, ['oldest', 'older']],
    ['all but those that are needed, should these be too many', 0, ['oldest', 'older', 'newest']],
  ])('takes %s', (_what, most, expected) => {
    expect(evicted(most)).toEqual(expected)
  })
})
