const most = 3

/** Problems of one kind as they are, or in one line where they are many: nobody reads a log of 100,000 lines. */
export function summarizeProblems(problems: readonly string[]): readonly string[] {
  if (problems.length <= most) return problems
  return [`${problems.slice(0, most).join('; ')}; and ${problems.length - most} more like these`]
}
