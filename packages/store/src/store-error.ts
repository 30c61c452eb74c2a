import { OperatorError } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'

/** The operation that failed. */
export interface FailedStep {
  readonly place: string
  readonly verb: 'read' | 'list' | 'put' | 'delete'
  readonly key: string
}

/** The failure of a request without an answer. The request may still run at any later time. */
export class UnansweredError extends OperatorError {}

/**
 * Converts an error to an OperatorError. Returns an OperatorError unchanged.
 *
 * @param reason - the reason, if the error's message is not clear enough.
 */
export function storeUnavailable(
  { place, verb, key }: FailedStep,
  cause: unknown,
  reason: string = reasonOf(cause),
): OperatorError {
  if (cause instanceof OperatorError) return cause
  return new OperatorError('SD_STORE_UNAVAILABLE', `${place}: cannot ${verb} ${key} (${reason})`, { cause })
}

/** Throws a TypeError for a key that leads out of the store or to internal files of a backend. */
export function checkKey(key: string): void {
  if (!/^[A-Za-z0-9_-][\w.-]*(?:\/[A-Za-z0-9_-][\w.-]*)*$/.test(key)) {
    throw new TypeError(`${JSON.stringify(key)} is not a valid key of a store`)
  }
}
