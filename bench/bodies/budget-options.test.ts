import { describe, expect, test } from 'vitest'
import { readBudgetOptions } from './budget-options.ts'

describe('readBudgetOptions', () => {
  test('takes budgets in MiB, with none among them', () => {
    expect(readBudgetOptions(['--budgets', '0,8'])).toMatchObject({ budgets: [0, 8], files: 10_000 })
  })

  test.each([
    ['--budgets', '0,x'],
    ['--budgets', '4,-1'],
    ['--files', '0'],
    ['--size', '1'],
  ])('refuses %s %s', (option, value) => {
    expect(() => readBudgetOptions([option, value])).toThrow(TypeError)
  })
})
