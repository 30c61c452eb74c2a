import { describe, expect, test } from 'vitest'
import type { BudgetReport } from './budget-report.ts'
import { drawBudget } from './draw-budget.ts'
import { formatBudget } from './format-budget.ts'

const report: BudgetReport = {
  date: '2026-01-02T03:04:05.000Z',
  machine: { processor: 'CPU', cores: 2, memoryBytes: 8 * 2 ** 30, system: 'Linux 6.1', node: '24.0.0' },
  seconds: 2,
  connections: 64,
  files: 1000,
  points: [
    { budget: 0, bytesInMemory: 0, hitRate: 0, rates: [500, 700], p99: [9, 9], peaks: [1e8, 1e8] },
    { budget: 8, bytesInMemory: 8.4e6, hitRate: 0.75, rates: [1200], p99: [2.25], peaks: [1.2e8] },
  ],
}

describe('formatBudget', () => {
  test('has a row for each budget, with medians', () => {
    expect(formatBudget(report).split('\n').slice(2)).toEqual([
      '| 0 MiB | 0.0 MB | 0.0 % | 100 MB | 600 | 9.0 ms |',
      '| 8 MiB | 8.4 MB | 75.0 % | 120 MB | 1200 | 2.3 ms |',
    ])
  })
})

describe('drawBudget', () => {
  test('places each budget by its memory and its share', () => {
    const lines = Array.from(drawBudget(report).matchAll(/points="([^"]+)"/g), ([, points]) => points)
    expect(lines).toEqual(['0.0,200.0 300.0,50.0', '0.0,100.0 300.0,0.0'])
  })

  test('refuses a report of nothing', () => {
    expect(() => drawBudget({ ...report, points: [] })).toThrow('without points')
  })
})
