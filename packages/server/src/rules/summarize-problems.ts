import { groupDigits } from '@serve-dist/foundation/text/group-digits'

const most = 3

/** Joins many problems of one kind into one text: the first ones, and the number of the others. */
export function summarizeProblems(problems: readonly string[]): readonly string[] {
  if (problems.length <= most) return problems
  return [
    [...problems.slice(0, most), `${groupDigits(problems.length - most)} more problems like these`].join(
      '\n  ',
    ),
  ]
}
