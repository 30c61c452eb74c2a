import { describe, expect, test } from 'vitest'
import { summarizeProblems } from './summarize-problems.ts'

describe('summarizeProblems', () => {
  test('leaves three as they are', () => {
    expect(summarizeProblems(['a', 'b', 'c'])).toEqual(['a', 'b', 'c'])
    expect(summarizeProblems([])).toEqual([])
  })

  test('makes one line of many', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => `p${index}`)
    expect(summarizeProblems(many)).toEqual(['p0; p1; p2; and 99997 more like these'])
  })
})
