export {
  type BudgetFile,
  type BudgetOutcome,
  type BudgetResult,
  checkBudgets,
  describeBudget,
} from './budgets/check-budgets.ts'
export { type Budget, parseBudgets } from './budgets/parse-budgets.ts'
export { readBuild } from './builds/read-build.ts'
export type { BuildComparison, FileComparison, FileState } from './compare/compare-builds.ts'
export type { Noise } from './compare/size-change.ts'
export { type BuildReport, createReport, type CreateReportOptions } from './formats/create-report.ts'
export { type FinishedPass, formatPass } from './formats/format-build.ts'
export { formatJson } from './formats/format-json.ts'
export { formatMarkdown } from './formats/format-markdown.ts'
export { formatTerminal, type FormatTerminalOptions } from './formats/format-terminal.ts'
export { formatHtml } from './page/format-html.ts'
export { type PageAssets, readPageAssets } from './page/read-page-assets.ts'
export {
  type PublishedBuild,
  reportCommand,
  type ReportCommandOptions,
  type ReportFormat,
  type ReportStreams,
} from './report-command.ts'
export { type ChangedFile, type Download, OperatorError, type OperatorErrorCode } from '@serve-dist/manifest'
