import { median } from '../serve/report/statistics.ts'
import type { BudgetReport } from './budget-report.ts'

const headings = ['budget', 'bodies in memory', 'answers from memory', 'resident', 'requests a second', 'p99']

/** A row for each budget, as Markdown. */
export function formatBudget({ points }: BudgetReport): string {
  const rows = points.map(({ budget, bytesInMemory, hitRate, rates, p99, peaks }) => [
    `${budget} MiB`,
    `${(bytesInMemory / 1e6).toFixed(1)} MB`,
    `${(hitRate * 100).toFixed(1)} %`,
    `${(median(peaks) / 1e6).toFixed(0)} MB`,
    median(rates).toFixed(0),
    `${median(p99).toFixed(1)} ms`,
  ])
  return [headings, headings.map(() => '---:'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
