import { OperatorError } from './operator-error.ts'
import * as s from './schema.ts'
import type { ServingRules } from './serving-rules.ts'
import { writtenServingRules } from './serving-rules-schema.ts'

/**
 * Checks serving rules that a user wrote.
 *
 * @param place - the name of the rules for messages; `''` for a separate document.
 * @throws OperatorError that lists every unknown key (with the nearest known one) and every invalid value.
 */
export function checkServingRules(document: unknown, place: string): ServingRules {
  return s.read(
    writtenServingRules,
    document,
    place,
    (problems) => new OperatorError('SD_OPTION_INVALID', problems),
  )
}
