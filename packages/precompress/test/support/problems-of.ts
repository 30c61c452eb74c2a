import { PrecompressError } from '../../src/precompress-error.ts'

/** What a pass that fails says; it is an error of the test when it does not fail so. */
export async function problemsOf(pass: Promise<unknown>): Promise<readonly string[]> {
  const error: unknown = await pass.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof PrecompressError) return error.problems
  throw new Error('not a PrecompressError', { cause: error })
}
