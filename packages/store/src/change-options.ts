import { s } from '@serve-dist/manifest'

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

// Each operation has further options.
const changeSchema = s.objectOf<ResolvedChangeOptions>({
  isDryRun: s.withDefault(s.trueOrFalse, () => false),
  isSinglePublisher: s.withDefault(s.trueOrFalse, () => false),
  // Without a request at a time nothing would be sent, and the change would seem to be made.
  concurrency: s.withDefault(
    s.expecting<number>(
      'a whole number, 1 or more',
      (value) => Number.isSafeInteger(value) && Number(value) > 0,
    ),
    () => 16,
  ),
  protectedFor: s.withDefault(
    s.expecting<number>('a number of milliseconds', (value) => typeof value === 'number'),
    () => 24 * 60 * 60 * 1000,
  ),
  signal: s.optional(s.abortSignal),
})

/**
 * Fills in the defaults.
 *
 * @throws OperatorError `SD_OPTION_INVALID` that lists every wrong option.
 */
export function resolveChangeOptions(options: ChangeOptions): ResolvedChangeOptions {
  return s.readOptions(changeSchema, options)
}

/** So often a change is begun anew where others change the store meanwhile. */
export const maximumAttempts = 20
