import { type BudgetFile, type BudgetResult } from '../budgets/check-budgets.ts'
import { formatBytes, formatCount, formatKilobytes, formatPercent } from '../builds/format-bytes.ts'
import { formatPath } from '../builds/format-path.ts'

const mostNames = 5

/** What a build makes of one budget, as a sentence that names the offenders and their sizes. */
export function describeBudget({ budget, outcome, size, over, files }: BudgetResult): string {
  if (outcome === 'unmatched') {
    return `${budget.text}: matches no file of this build; mend the glob, or take the budget out`
  }
  const weighed = `${formatKilobytes(size)} ${budget.column} of ${formatKilobytes(budget.limit)}`
  if (outcome === 'within') {
    return `${budget.text}: ${weighed}, ${formatBytes(-over)} left`
  }
  const percent = budget.limit === 0 ? '' : ` (${formatPercent((over / budget.limit) * 100)})`
  return `${budget.text}: ${weighed}, ${formatBytes(over)}${percent} too much: ${nameFiles(files)}`
}

/** The budgets that a build fails, a sentence each; empty when it keeps them all. */
export function budgetProblems(results: readonly BudgetResult[]): string[] {
  return results.filter(({ outcome }) => outcome !== 'within').map(describeBudget)
}

function nameFiles(files: readonly BudgetFile[]): string {
  const named = files
    .slice(0, mostNames)
    .map(({ path, size }) => `${formatPath(path)} ${formatKilobytes(size)}`)
  const others = files.length - named.length
  return [...named, ...(others > 0 ? [formatCount(others, 'more file')] : [])].join(', ')
}
