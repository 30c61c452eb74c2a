import { OperatorError } from './operator-error.ts'
import * as s from './schema.ts'
import type { ServingRules } from './serving-rules.ts'
import { writtenServingRules } from './serving-rules-schema.ts'

/**
 * Checks rules that a person wrote.
 *
 * @param place - where they stand, for the messages; `''` for a document of its own.
 * @throws OperatorError that lists every wrong key (with the nearest right one) and every wrong value.
 */
export function checkServingRules(document: unknown, place: string): ServingRules {
  return s.read(
    writtenServingRules,
    document,
    place,
    (problems) => new OperatorError('SD_OPTION_INVALID', problems),
  )
}
