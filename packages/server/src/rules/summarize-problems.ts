const most = 3

/** Returns the first problems of one kind, and the number of the others. */
export function summarizeProblems(problems: readonly string[]): readonly string[] {
  if (problems.length <= most) return problems
  return [...problems.slice(0, most), `${problems.length - most} more problems like these`]
}
