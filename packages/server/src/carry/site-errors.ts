import { OperatorError } from '@serve-dist/manifest'

/** Returns the error for content that must not be used. */
export function siteInvalid(problem: string): OperatorError {
  return new OperatorError('SD_SITE_INVALID', `${problem} Nothing was carried.`)
}

/** Returns the error for a request without a usable answer. */
export function siteUnavailable(problem: string, cause?: unknown): OperatorError {
  return new OperatorError('SD_SITE_UNAVAILABLE', problem, { cause })
}
