const most = 3

/** Joins problems of one kind into one line if there are many. */
export function summarizeProblems(problems: readonly string[]): readonly string[] {
  if (problems.length <= most) return problems
  return [`${problems.slice(0, most).join('; ')}; and ${problems.length - most} more like these`]
}
