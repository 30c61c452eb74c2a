export {
  type BudgetFile,
  type BudgetOutcome,
  type BudgetResult,
  checkBudgets,
} from './budgets/check-budgets.ts'
export {
  type BuildComparison,
  compareBuilds,
  type CompareBuildsOptions,
  type FileComparison,
  type FileState,
} from './compare/compare-builds.ts'
export { type BuildReport, createReport, type CreateReportOptions } from './formats/create-report.ts'
export { budgetProblems, describeBudget } from './formats/describe-budget.ts'
export { describePreference } from './formats/describe-preference.ts'
export { type FileKind, fileKindOf, fileKinds } from './builds/file-kind.ts'
export { formatBuildTable, type FormatBuildTableOptions } from './formats/format-build-table.ts'
export {
  formatComparisonTable,
  type FormatComparisonTableOptions,
} from './formats/format-comparison-table.ts'
export { formatHtml } from './page/format-html.ts'
export { formatJson, jsonReportVersion } from './formats/format-json.ts'
export { formatMarkdown } from './formats/format-markdown.ts'
export { type FinishedPass, formatPass } from './formats/format-pass.ts'
export { formatTerminal, type FormatTerminalOptions } from './formats/format-terminal.ts'
export { markdownMarker } from './formats/markdown-marker.ts'
export type { MatchedFile } from './compare/match-files.ts'
export { defaultNoise, type Noise, parseNoise } from './compare/noise.ts'
export { type PageAssets, readPageAssets } from './page/read-page-assets.ts'
export { type Budget, parseBudget } from './budgets/parse-budget.ts'
export { parseBudgets } from './budgets/parse-budgets.ts'
export { type PreferenceCost, preferenceCost } from './builds/preference-cost.ts'
export { readBuild } from './builds/read-build.ts'
export {
  reportCommand,
  type ReportCommandOptions,
  type ReportFormat,
  reportFormats,
  type ReportStreams,
} from './report-command.ts'
export { ReportError } from './builds/report-error.ts'
export type { SizeChange, SizeChanges, Verdict } from './compare/size-change.ts'
export { type BuildServing, type Coding, type SizeColumn, type Sizes, sizesOf } from './builds/sizes.ts'
