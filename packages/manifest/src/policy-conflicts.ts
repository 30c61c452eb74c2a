import { countingPolicyRules, policyFieldName } from './content-security-policy.ts'
import type { ServingRules } from './serving-rules.ts'

/** Rules, and what stands before their names in messages. */
export interface PlacedRules {
  readonly place: string
  readonly rules: Pick<ServingRules, 'csp' | 'headers'>
}

/**
 * A line for each rule that sets the field of the policy beside the rule `csp`: one would replace the other. `null`,
 * which takes the field away, is none.
 */
export function policyConflicts(sources: readonly PlacedRules[]): string[] {
  const counting = countingPolicyRules(sources.map(({ rules }) => rules.csp))
  if (counting === undefined) return []
  const field = policyFieldName(counting).toLowerCase()
  return sources.flatMap(({ place, rules: { headers = {} } }) =>
    Object.entries(headers).flatMap(([glob, fields]) =>
      Object.entries(fields)
        .filter(([name, value]) => name.toLowerCase() === field && value !== null)
        .map(([name]) => `${place}headers[${JSON.stringify(glob)}][${JSON.stringify(name)}]: ${beside}`),
    ),
  )
}

/** Why the field cannot be set by another rule, and what to do. */
export const beside: string =
  'the rule csp sends this field; write its directives into csp, or say csp: false'
