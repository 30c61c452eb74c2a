import { OperatorError } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'

/** Which verb failed on which object. */
export interface FailedStep {
  readonly place: string
  readonly verb: 'read' | 'list' | 'put' | 'delete'
  readonly key: string
}

/**
 * What was thrown, as an error of the store; one that is for the operator already, as it is.
 *
 * @param reason - in words, where the error's own are not enough.
 */
export function storeUnavailable(
  { place, verb, key }: FailedStep,
  cause: unknown,
  reason: string = reasonOf(cause),
): OperatorError {
  if (cause instanceof OperatorError) return cause
  return new OperatorError('SD_STORE_UNAVAILABLE', `${place}: cannot ${verb} ${key} (${reason})`, { cause })
}

/** @throws TypeError for a key that could lead out of the store, or to what a backend keeps for itself. */
export function checkKey(key: string): void {
  if (!/^[A-Za-z0-9_-][\w.-]*(?:\/[A-Za-z0-9_-][\w.-]*)*$/.test(key)) {
    throw new TypeError(`${JSON.stringify(key)} is no key of a store`)
  }
}
