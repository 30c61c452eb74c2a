import type { Manifest, ManifestFile } from '@serve-dist/manifest'
import picomatch from 'picomatch'
import type { Budget } from './parse-budget.ts'
import { sizesOf } from '../builds/sizes.ts'

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
