import { PrecompressError } from '../precompress-error.ts'

/** The time of new content, and whether it is dictated, so that no earlier time may live on. */
export interface ContentTime {
  /** ISO 8601, UTC, whole seconds. */
  readonly now: string
  /** `SOURCE_DATE_EPOCH` is set: the result depends on the input alone, not on what it replaces. */
  readonly isFixed: boolean
}

/**
 * The time from `SOURCE_DATE_EPOCH` (reproducible-builds.org), else from the clock.
 *
 * @throws {@link PrecompressError} when the variable is set and is not a whole number of seconds.
 */
export function contentTime(
  sourceDateEpoch: string | undefined,
  clock: () => number = Date.now,
): ContentTime {
  if (sourceDateEpoch === undefined || sourceDateEpoch === '') {
    return { now: isoSeconds(clock()), isFixed: false }
  }
  if (!/^\d{1,11}$/.test(sourceDateEpoch)) {
    throw new PrecompressError([
      `SOURCE_DATE_EPOCH: expected a whole number of seconds since 1970, found ${JSON.stringify(sourceDateEpoch)}`,
    ])
  }
  return { now: isoSeconds(Number(sourceDateEpoch) * 1000), isFixed: true }
}

function isoSeconds(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
