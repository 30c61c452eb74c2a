import { countingPolicyRules, policyFieldName, type PolicyRules } from './content-security-policy.ts'
import type { ServingRules } from './serving-rules.ts'

/** Rules and the prefix of their names in messages. */
export interface PlacedRules {
  readonly place: string
  readonly rules: Pick<ServingRules, 'csp' | 'headers'>
}

/** Describes each rule that sets the policy's field although the rule `csp` exists. */
export function policyConflicts(sources: readonly PlacedRules[]): string[] {
  const counting = countingPolicyRules(sources.map(({ rules }) => rules.csp))
  return sources.flatMap(({ place, rules }) =>
    conflictingFields(rules, counting).map(
      ([glob, name]) => `${place}headers[${JSON.stringify(glob)}][${JSON.stringify(name)}]: ${beside}`,
    ),
  )
}

/**
 * Returns the glob and the name of each field that conflicts with the policy. `null`, which removes a field, does not
 * conflict.
 *
 * @param counting - the effective policy rules.
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

/** The explanation of a conflict with the rule `csp`. */
export const beside: string = 'the rule csp sets this field. Move the directives into csp, or set csp: false.'
