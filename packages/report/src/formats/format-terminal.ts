import { createColors } from './create-colors.ts'
import type { BuildReport } from './create-report.ts'
import { describeBudget } from './describe-budget.ts'
import { formatBuildTable } from './format-build-table.ts'
import { formatComparisonTable } from './format-comparison-table.ts'

/** How a report is drawn on a terminal. */
export interface FormatTerminalOptions {
  /** Whether to colour it with ANSI escapes. */
  readonly colors: boolean
}

/** A report for a terminal: the build's table or what changed, then the budgets. No line feed at the end. */
export function formatTerminal(
  { build, comparison, budgets }: BuildReport,
  options: FormatTerminalOptions,
): string {
  const colors = createColors(options.colors)
  const table =
    comparison === undefined ? formatBuildTable(build, options) : formatComparisonTable(comparison, options)
  const lines = budgets.map((result) =>
    result.outcome === 'within'
      ? colors.green(`✓ ${describeBudget(result)}`)
      : colors.red(`✗ ${describeBudget(result)}`),
  )
  return [table, ...lines].join('\n')
}
