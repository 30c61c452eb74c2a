import { describe, expect, test } from 'vitest'
import { summarizeProblems } from './summarize-problems.ts'

describe('summarizeProblems', () => {
  test('returns three problems unchanged', () => {
    expect(summarizeProblems(['a', 'b', 'c'])).toEqual(['a', 'b', 'c'])
    expect(summarizeProblems([])).toEqual([])
  })

  test('joins many problems into one text', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => `p${index}`)
    expect(summarizeProblems(many)).toEqual(['p0\n  p1\n  p2\n  99,997 more problems like these'])
  })
})
