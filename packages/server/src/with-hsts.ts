import type { ServingRules } from '@serve-dist/manifest'

/** Rules that also send `Strict-Transport-Security` with every file, weaker than any rule for that field. */
export function withHsts(rules: ServingRules = {}, value: string | undefined): ServingRules {
  if (value === undefined) return rules
  // The first rule is the weakest. Written so, the glob for everything is nobody else's key.
  return { ...rules, headers: { '{**,**}': { 'Strict-Transport-Security': value }, ...rules.headers } }
}
