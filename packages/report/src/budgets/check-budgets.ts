import { escapeInvisible } from '@serve-dist/foundation/text/escape-invisible'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { type Manifest, type ManifestFile } from '@serve-dist/manifest'
import picomatch from 'picomatch'
import { formatBytes, formatSize, formatPercent } from '../builds/format-values.ts'
import { sizesOf } from '../builds/sizes.ts'
import type { Budget } from './parse-budgets.ts'

const mostNames = 5

/**
 * The result of a budget. `unmatched`: the glob matches no file. This is a failure, because a renamed folder would
 * disable the budget silently.
 */
export type BudgetOutcome = 'within' | 'exceeded' | 'unmatched'

/** A file that a budget counts. */
export interface BudgetFile {
  readonly path: string
  /** The number of bytes in the budget's column, such as `br`. */
  readonly size: number
}

/** A budget and its result for a build. */
export interface BudgetResult {
  readonly budget: Budget
  readonly outcome: BudgetOutcome
  /** The number of bytes of all files. */
  readonly size: number
  /** The number of bytes above the limit. It is negative if the build is within the budget. */
  readonly over: number
  /** The matching files, the largest first. */
  readonly files: readonly BudgetFile[]
}

/** Checks a build against budgets. A budget limits the sum of all files that match its glob. */
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
  // The only dotfiles in a manifest are in `.well-known`, which the server serves normally.
  const matches = picomatch(files, { dot: true })
  return ({ path }) => matches(path)
}

/** Describes the result of a budget, with the largest files and their sizes. */
export function describeBudget({ budget, outcome, size, over, files }: BudgetResult): string {
  if (outcome === 'unmatched') {
    return `${budget.text}: matches no file of this build. Correct the glob or remove the budget.`
  }
  const weighed = `${formatSize(size)} ${budget.column} of ${formatSize(budget.limit)}`
  if (outcome === 'within') {
    return `${budget.text}: ${weighed}, ${formatBytes(-over)} left`
  }
  const percent = budget.limit === 0 ? '' : ` (${formatPercent((over / budget.limit) * 100)})`
  return `${budget.text}: ${weighed}, ${formatBytes(over)}${percent} over the limit: ${nameFiles(files)}`
}

/** Describes the failed budgets, one sentence each. */
export function budgetProblems(results: readonly BudgetResult[]): string[] {
  return results.filter(({ outcome }) => outcome !== 'within').map(describeBudget)
}

function nameFiles(files: readonly BudgetFile[]): string {
  const named = files
    .slice(0, mostNames)
    .map(({ path, size }) => `${escapeInvisible(path)} ${formatSize(size)}`)
  const others = files.length - named.length
  return [...named, ...(others > 0 ? [pluralize(others, 'more file')] : [])].join(', ')
}
