import { type Budget, checkBudgets, describeBudget } from '@serve-dist/report'
import type { PrecompressReport } from '@serve-dist/precompress'
import type { PassContext } from './pass-context.ts'
import { failPass } from './fail-pass.ts'

/**
 * Weighs all folders of a build together and fails it when it is over a budget. A budget that no file
 * counts towards is a warning, unless later environments may still write those files.
 */
export function enforceBudgets(
  context: PassContext,
  reports: readonly PrecompressReport[],
  { budgets, isLast }: { readonly budgets: readonly Budget[]; readonly isLast: boolean },
): void {
  const files = reports.flatMap(({ manifest }) => manifest.files)
  // All passes have the rules of one plugin.
  const results = checkBudgets({ ...reports[0]?.manifest, files }, budgets)
  for (const result of isLast ? results : []) {
    if (result.outcome === 'unmatched') context.warn(`budget ${describeBudget(result)}`)
  }
  const exceeded = results.filter(({ outcome }) => outcome === 'exceeded').map(describeBudget)
  if (exceeded.length > 0) {
    failPass(context, {
      message: ['This build weighs more than its budgets allow:', ...exceeded].join('\n  '),
    })
  }
}
