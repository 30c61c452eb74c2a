import { OperatorError } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'

export function problemLines(error: unknown): readonly string[] {
  if (error instanceof OperatorError) return error.problems
  return [reasonOf(error)]
}
