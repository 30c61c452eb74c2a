import { describe, expect, test } from 'vitest'
import { foldProblems } from './fold-problems.ts'

describe('foldProblems', () => {
  test('leaves three as they are', () => {
    expect(foldProblems(['a', 'b', 'c'])).toEqual(['a', 'b', 'c'])
    expect(foldProblems([])).toEqual([])
  })

  test('makes one line of many', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => `p${index}`)
    expect(foldProblems(many)).toEqual(['p0; p1; p2; and 99997 more like these'])
  })
})
