import type { Download, Manifest } from '@serve-dist/manifest'
import { type BudgetResult, checkBudgets } from '../budgets/check-budgets.ts'
import { type BuildComparison, compareBuilds } from '../compare/compare-builds.ts'
import { defaultNoise, type Noise } from '../compare/size-change.ts'
import type { Budget } from '../budgets/parse-budgets.ts'

/** What is asked of a report. */
export interface CreateReportOptions {
  /**
   * What the build is called where one pull request has reports of several.
   *
   * @default 'Build size'
   */
  readonly title?: string
  /** An earlier build to compare with. */
  readonly against?: Manifest
  /** What a visitor of that build downloads of this one. */
  readonly download?: Download
  /**
   * Changes that are called noise, see {@link Noise}.
   *
   * @default { percent: 0.1, bytes: 64 }
   */
  readonly noise?: Noise
  /**
   * What the build may weigh.
   *
   * @default []
   */
  readonly budgets?: readonly Budget[]
}

/** All that the formats of a report show. */
export interface BuildReport {
  readonly title: string
  readonly build: Manifest
  /** Only where it was asked for. */
  readonly comparison: BuildComparison | undefined
  /** Only of builds out of a store. */
  readonly download: Download | undefined
  readonly budgets: readonly BudgetResult[]
}

/** What a report is called that was given no name. */
export const defaultTitle = 'Build size'

/** Weighs a build, against an earlier one and against budgets where they are given. */
export function createReport(build: Manifest, options: CreateReportOptions = {}): BuildReport {
  const { title = defaultTitle, against, download, noise = defaultNoise, budgets = [] } = options
  const comparison = against === undefined ? undefined : compareBuilds(against, build, { noise })
  return { title, build, comparison, download, budgets: checkBudgets(build, budgets) }
}
