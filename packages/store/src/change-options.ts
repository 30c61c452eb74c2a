import { OperatorError } from '@serve-dist/manifest'
import { mismatch } from '@serve-dist/foundation/values/mismatch'
import { withDefaults } from './with-defaults.ts'

/** How a store is changed. */
export interface ChangeOptions {
  /**
   * Whether nothing is written: only what would be done is found out.
   *
   * @default false
   */
  readonly isDryRun?: boolean | undefined
  /**
   * Whether only one job ever changes the store, so that the endpoint need not keep conditions.
   *
   * @default false
   */
  readonly isSinglePublisher?: boolean | undefined
  /**
   * How many requests run at once.
   *
   * @default 16
   */
  readonly concurrency?: number | undefined
  /**
   * Milliseconds for which what nothing names stays: a publish that is under way sent it.
   *
   * @default 24 hours
   */
  readonly protectedFor?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Options with their defaults. */
export interface ResolvedChangeOptions {
  readonly isDryRun: boolean
  readonly isSinglePublisher: boolean
  readonly concurrency: number
  readonly protectedFor: number
  readonly signal: AbortSignal | undefined
}

const defaults: ResolvedChangeOptions = {
  isDryRun: false,
  isSinglePublisher: false,
  concurrency: 16,
  protectedFor: 24 * 60 * 60 * 1000,
  signal: undefined,
}

/**
 * Fills in the defaults.
 *
 * @throws OperatorError `SD_OPTION_INVALID`: with no request at a time nothing would be sent, and all would seem well.
 */
export function resolveChangeOptions(options: ChangeOptions): ResolvedChangeOptions {
  const resolved = withDefaults(defaults, options)
  const { concurrency } = resolved
  if (Number.isSafeInteger(concurrency) && concurrency > 0) return resolved
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `concurrency: ${mismatch('a whole number, 1 or more', concurrency)}`,
  )
}

/** So often a change is begun anew where others change the store meanwhile. */
export const mostTries = 20
