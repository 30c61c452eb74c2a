import { s } from '@serve-dist/manifest'

/** Options of each operation that changes a store. */
export interface ChangeOptions {
  /**
   * Whether to report the changes without writing them.
   *
   * @default false
   */
  readonly isDryRun?: boolean | undefined
  /**
   * Whether only one job ever changes the store. The endpoint then need not support conditional writes.
   *
   * @default false
   */
  readonly isSinglePublisher?: boolean | undefined
  /**
   * The number of requests that run at once.
   *
   * @default 16
   */
  readonly concurrency?: number | undefined
  /**
   * The minimum age, in milliseconds, of unreferenced objects that may be deleted. Younger ones can belong to a publish
   * in progress.
   *
   * @default 24 hours
   */
  readonly protectedFor?: number | undefined
  /**
   * The time in milliseconds to look for the outcome if the last write had no answer.
   *
   * @default 60 seconds
   */
  readonly lookFor?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Options with their defaults. */
export interface ResolvedChangeOptions {
  readonly isDryRun: boolean
  readonly isSinglePublisher: boolean
  readonly concurrency: number
  readonly protectedFor: number
  readonly lookFor: number
  readonly signal: AbortSignal | undefined
}

const milliseconds = s.expecting<number>('a number of milliseconds', (value) => typeof value === 'number')
const changeSchema = s.objectOf<ResolvedChangeOptions>({
  isDryRun: s.withDefault(s.trueOrFalse, () => false),
  isSinglePublisher: s.withDefault(s.trueOrFalse, () => false),
  // With 0 requests at once, nothing would be sent and the operation would seem to succeed.
  concurrency: s.withDefault(
    s.expecting<number>(
      'a whole number, 1 or more',
      (value) => Number.isSafeInteger(value) && Number(value) > 0,
    ),
    () => 16,
  ),
  protectedFor: s.withDefault(milliseconds, () => 24 * 60 * 60 * 1000),
  lookFor: s.withDefault(milliseconds, () => 60_000),
  signal: s.optional(s.abortSignal),
})

/**
 * Fills in the defaults.
 *
 * @throws OperatorError `SD_OPTION_INVALID` that lists every invalid option.
 */
export function resolveChangeOptions(options: ChangeOptions): ResolvedChangeOptions {
  return s.readOptions(changeSchema, options)
}

/** The number of attempts of a change if other jobs change the store concurrently. */
export const maximumAttempts = 20
