import { escapeInvisible } from '@serve-dist/foundation/text/escape-invisible'
import { type Manifest, type ManifestFile } from '@serve-dist/manifest'
import picomatch from 'picomatch'
import { formatBytes, formatCount, formatKilobytes, formatPercent } from '../builds/format-values.ts'
import { sizesOf } from '../builds/sizes.ts'
import type { Budget } from './parse-budgets.ts'

const mostNames = 5

/**
 * How a build stands to a budget. `unmatched`: no file fits the glob, so the budget guards nothing; that
 * fails too, or a renamed folder would switch it off unseen.
 */
export type BudgetOutcome = 'within' | 'exceeded' | 'unmatched'

/** A file that a budget counts. */
export interface BudgetFile {
  readonly path: string
  /** In bytes, weighed as the budget says. */
  readonly size: number
}

/** One budget, and what a build makes of it. */
export interface BudgetResult {
  readonly budget: Budget
  readonly outcome: BudgetOutcome
  /** In bytes, of all files that it counts. */
  readonly size: number
  /** In bytes; negative where some of the budget is left. */
  readonly over: number
  /** The files that it counts, the largest first. */
  readonly files: readonly BudgetFile[]
}

/** Weighs a build against budgets. A glob counts all files that it matches together, not each alone. */
export function checkBudgets(
  build: Pick<Manifest, 'files' | 'serving'>,
  budgets: readonly Budget[],
): BudgetResult[] {
  return budgets.map((budget) => {
    const counted = build.files
      .filter(matcherOf(budget))
      .map((file) => ({ path: file.path, size: sizesOf(file, build)[budget.column] }))
      .toSorted((a, b) => b.size - a.size)
    const size = counted.reduce((sum, file) => sum + file.size, 0)
    const over = size - budget.limit
    const outcome = counted.length === 0 ? 'unmatched' : over > 0 ? 'exceeded' : 'within'
    return { budget, outcome, size, over, files: counted }
  })
}

function matcherOf({ files }: Budget): (file: ManifestFile) => boolean {
  if (files === 'total') return () => true
  // `dot`: of the dotfiles only `.well-known` is ever listed, and that is served like the rest.
  const matches = picomatch(files, { dot: true })
  return ({ path }) => matches(path)
}

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
    .map(({ path, size }) => `${escapeInvisible(path)} ${formatKilobytes(size)}`)
  const others = files.length - named.length
  return [...named, ...(others > 0 ? [formatCount(others, 'more file')] : [])].join(', ')
}
