import { countingPolicyRules, policyFieldName, type PolicyRules } from './content-security-policy.ts'
import type { ServingRules } from './serving-rules.ts'

/** Rules, and what stands before their names in messages. */
export interface PlacedRules {
  readonly place: string
  readonly rules: Pick<ServingRules, 'csp' | 'headers'>
}

/** A line for each rule that sets the field of the policy beside the rule `csp`. */
export function policyConflicts(sources: readonly PlacedRules[]): string[] {
  const counting = countingPolicyRules(sources.map(({ rules }) => rules.csp))
  return sources.flatMap(({ place, rules }) =>
    conflictingFields(rules, counting).map(
      ([glob, name]) => `${place}headers[${JSON.stringify(glob)}][${JSON.stringify(name)}]: ${beside}`,
    ),
  )
}

/**
 * The glob and the name of each field that would replace the policy, or that the policy would replace. `null`, which
 * takes the field away, is none.
 *
 * @param counting - the rules that the policy is made of.
 */
export function conflictingFields(
  { csp, headers = {} }: PlacedRules['rules'],
  counting: readonly PolicyRules[] | undefined = countingPolicyRules([csp]),
): readonly (readonly [glob: string, name: string])[] {
  if (counting === undefined) return []
  const field = policyFieldName(counting).toLowerCase()
  return Object.entries(headers).flatMap(([glob, fields]) =>
    Object.entries(fields)
      .filter(([name, value]) => name.toLowerCase() === field && value !== null)
      .map(([name]) => [glob, name] as const),
  )
}

/** Why the field cannot be set by another rule, and what to do. */
export const beside: string =
  'the rule csp sends this field; write its directives into csp, or say csp: false'
