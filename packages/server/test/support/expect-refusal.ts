import type { OperatorErrorCode } from '@serve-dist/manifest'
import { expect } from 'vitest'

/** Expects an operator error with this code and this part of its message. */
export async function expectRefusal(
  outcome: Promise<unknown>,
  code: OperatorErrorCode,
  message: string | RegExp,
): Promise<void> {
  const part = typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message)
  await expect(outcome).rejects.toMatchObject({ code, message: part })
}
