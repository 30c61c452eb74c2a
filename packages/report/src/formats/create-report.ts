import type { Download, Manifest } from '@serve-dist/manifest'
import { type BudgetResult, checkBudgets } from '../budgets/check-budgets.ts'
import { type BuildComparison, compareBuilds } from '../compare/compare-builds.ts'
import { defaultNoise, type Noise } from '../compare/size-change.ts'
import type { Budget } from '../budgets/parse-budgets.ts'

/** Options of a report. */
export interface CreateReportOptions {
  /**
   * The title. It distinguishes several reports in one pull request.
   *
   * @default 'Build size'
   */
  readonly title?: string
  /** An earlier build to compare with. */
  readonly against?: Manifest
  /** The download for visitors of that build. */
  readonly download?: Download
  /**
   * The limits below which changes are noise, see {@link Noise}.
   *
   * @default { percent: 0.1, bytes: 64 }
   */
  readonly noise?: Noise
  /**
   * The size budgets of the build.
   *
   * @default []
   */
  readonly budgets?: readonly Budget[]
}

/** The data of a report for all formats. */
export interface BuildReport {
  readonly title: string
  readonly build: Manifest
  /** The comparison with an earlier build, if there is one. */
  readonly comparison: BuildComparison | undefined
  /** The download. Only builds from a store have it. */
  readonly download: Download | undefined
  readonly budgets: readonly BudgetResult[]
}

/** The default title. */
export const defaultTitle = 'Build size'

/** Creates the report of a build, with a comparison and budgets if they are given. */
export function createReport(build: Manifest, options: CreateReportOptions = {}): BuildReport {
  const { title = defaultTitle, against, download, noise = defaultNoise, budgets = [] } = options
  const comparison = against === undefined ? undefined : compareBuilds(against, build, { noise })
  return { title, build, comparison, download, budgets: checkBudgets(build, budgets) }
}
