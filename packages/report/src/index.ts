export { type BudgetFile, type BudgetOutcome, type BudgetResult, checkBudgets } from './check-budgets.ts'
export {
  type BuildComparison,
  compareBuilds,
  type CompareBuildsOptions,
  type FileComparison,
  type FileState,
} from './compare-builds.ts'
export { type BuildReport, createReport, type CreateReportOptions } from './create-report.ts'
export { budgetProblems, describeBudget } from './describe-budget.ts'
export { describePreference } from './describe-preference.ts'
export { type FileKind, fileKindOf, fileKinds } from './file-kind.ts'
export { formatBuildTable, type FormatBuildTableOptions } from './format-build-table.ts'
export { formatComparisonTable, type FormatComparisonTableOptions } from './format-comparison-table.ts'
export { formatHtml } from './format-html.ts'
export { formatJson, jsonReportVersion } from './format-json.ts'
export { formatMarkdown } from './format-markdown.ts'
export { type FinishedPass, formatPass } from './format-pass.ts'
export { formatTerminal, type FormatTerminalOptions } from './format-terminal.ts'
export { markdownMarker } from './markdown-marker.ts'
export type { MatchedFile } from './match-files.ts'
export { defaultNoise, type Noise, parseNoise } from './noise.ts'
export { type PageAssets, readPageAssets } from './read-page-assets.ts'
export { type Budget, parseBudget } from './parse-budget.ts'
export { parseBudgets } from './parse-budgets.ts'
export { type PreferenceCost, preferenceCost } from './preference-cost.ts'
export { readBuild } from './read-build.ts'
export {
  reportCommand,
  type ReportCommandOptions,
  type ReportFormat,
  reportFormats,
  type ReportStreams,
} from './report-command.ts'
export { ReportError } from './report-error.ts'
export type { SizeChange, SizeChanges, Verdict } from './size-change.ts'
export { type BuildServing, type Coding, type SizeColumn, type Sizes, sizesOf } from './sizes.ts'
