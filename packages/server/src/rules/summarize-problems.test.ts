import { describe, expect, test } from 'vitest'
import { summarizeProblems } from './summarize-problems.ts'

describe('summarizeProblems', () => {
  test('returns three problems unchanged', () => {
    expect(summarizeProblems(['a', 'b', 'c'])).toEqual(['a', 'b', 'c'])
    expect(summarizeProblems([])).toEqual([])
  })

  test('counts the problems after the first three', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => `p${index}`)
    expect(summarizeProblems(many)).toEqual(['p0', 'p1', 'p2', '99997 more problems like these'])
  })
})
