import { OperatorError, reasonOf } from '@serve-dist/manifest'

/** What is wrong, a line each. */
export function problemsOf(error: unknown): readonly string[] {
  if (error instanceof OperatorError) return error.problems
  return [reasonOf(error)]
}
