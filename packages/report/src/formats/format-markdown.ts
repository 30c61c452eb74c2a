import type { BuildReport } from './create-report.ts'
import { describeBudget } from './describe-budget.ts'
import { describePreference } from './describe-preference.ts'
import { escapeMarkdown } from './escape-markdown.ts'
import { markdownOfBuild } from './markdown-of-build.ts'
import { markdownOfComparison } from './markdown-of-comparison.ts'
import { markdownMarker } from './markdown-marker.ts'
import { preferenceCost } from '../builds/preference-cost.ts'

/** In bytes: GitHub refuses a comment of more than 65,536 characters, and our workflow cuts it there. */
const longestComment = 60_000

/**
 * A report fit for a pull request's comment: what it comes to, the totals, the files of each kind in a
 * section that unfolds, the budgets. Marked is what got larger (🔺), smaller (✅), new (🆕) and removed (🗑️).
 * Short enough for GitHub; a line feed at the end.
 */
export function formatMarkdown(report: BuildReport): string {
  for (const mostRows of [50, 10]) {
    const text = write(report, mostRows)
    if (Buffer.byteLength(text) <= longestComment) return text
  }
  return write(report, 0)
}

function write({ title, build, comparison, budgets }: BuildReport, mostRows: number): string {
  const cost = describePreference(preferenceCost(build))
  const blocks = [
    markdownMarker(title),
    ...(comparison === undefined
      ? markdownOfBuild(build, { title, mostRows })
      : markdownOfComparison(comparison, { title, mostRows })),
    budgets
      .map(
        (result) =>
          `- ${result.outcome === 'within' ? '✅' : '❌'} ${escapeMarkdown(describeBudget(result))}`,
      )
      .join('\n'),
    cost === undefined ? '' : `<sub>${escapeMarkdown(cost)}.</sub>`,
  ]
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}
