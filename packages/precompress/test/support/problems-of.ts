import { OperatorError } from '@serve-dist/manifest'

/** Returns the problems of a failed compression. Throws if it did not fail with an `OperatorError`. */
export async function problemsOf(pass: Promise<unknown>): Promise<readonly string[]> {
  const error: unknown = await pass.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof OperatorError) return error.problems
  throw new Error('not an OperatorError', { cause: error })
}
