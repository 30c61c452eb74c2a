import { type Budget, parseBudget } from './parse-budget.ts'
import { ReportError } from '../builds/report-error.ts'

/**
 * Reads several budgets; see {@link parseBudget}.
 *
 * @throws {@link ReportError} that names every one that is wrong.
 */
export function parseBudgets(texts: readonly string[]): Budget[] {
  const problems: string[] = []
  const budgets = texts.flatMap((text) => {
    try {
      return [parseBudget(text)]
    } catch (error) {
      if (!(error instanceof ReportError)) throw error
      problems.push(...error.problems)
      return []
    }
  })
  if (problems.length > 0) throw new ReportError(problems)
  return budgets
}
