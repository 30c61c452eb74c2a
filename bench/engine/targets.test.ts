import { describe, expect, test } from 'vitest'
import { shareOfMark, valueOf } from './targets.ts'

describe('valueOf', () => {
  test('is a ratio, a difference, or the quantity itself', () => {
    expect(valueOf({ kind: 'at most' }, 8, 10)).toBe(0.8)
    expect(valueOf({ kind: 'at most more' }, 52, 31)).toBe(21)
    expect(valueOf({ kind: 'at most' }, 4)).toBe(4)
  })
})

describe('shareOfMark', () => {
  test('is at most 1 where a ratio or a quantity is not above its mark', () => {
    expect(shareOfMark({ kind: 'at most', mark: 0.8 }, 8, 10)).toBe(1)
    expect(shareOfMark({ kind: 'at most', mark: 5 }, 4)).toBe(0.8)
  })

  test('is at most 1 where a ratio is not below what it must be', () => {
    expect(shareOfMark({ kind: 'at least', mark: 0.95 }, 1000, 1000)).toBe(0.95)
    expect(shareOfMark({ kind: 'at least', mark: 0.95 }, 900, 1000)).toBeGreaterThan(1)
  })

  test('is at most 1 where nothing takes more than it may beyond the other', () => {
    expect(shareOfMark({ kind: 'at most more', mark: 30 }, 55, 25)).toBe(1)
    expect(shareOfMark({ kind: 'at most more', mark: 30 }, 66, 25)).toBe(1.2)
  })
})
