import { OperatorError } from '@serve-dist/manifest'

/** What a pass that fails says; it is an error of the test when it does not fail so. */
export async function problemsOf(pass: Promise<unknown>): Promise<readonly string[]> {
  const error: unknown = await pass.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof OperatorError) return error.problems
  throw new Error('not an OperatorError', { cause: error })
}
