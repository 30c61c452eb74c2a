import {
  beside,
  countingPolicyRules,
  createContentSecurityPolicy,
  environmentOrigins,
  type EnvironmentValues,
  type Manifest,
  type PagePolicy,
  policyConflicts,
  policyFieldName,
  type PolicyRules,
  type ServingRules,
} from '@serve-dist/manifest'
import type { HeadersFileRule } from './parse-headers-file.ts'

/** A Content Security Policy: the name of its field and its values. */
export interface SitePolicy {
  readonly field: string
  /** The active rules, the weakest first. */
  readonly rules: readonly PolicyRules[]
  /** The sources of the rules, for messages. */
  readonly from: readonly string[]
  /** Returns the policy of a page. Workers, SVG and XML have no hashes: omit the parameter. */
  readonly valueFor: (page?: PagePolicy) => string
}

/** The input of the policy besides the build. */
export interface PolicySources {
  readonly headersFile: readonly HeadersFileRule[]
  /** The rules of the plugin, then those of the operator. */
  readonly rules: readonly ServingRules[]
  readonly values: EnvironmentValues
}

/** The policy, if any source sets one, and one line for each problem of its rules or variables. */
export interface ResolvedPolicy {
  readonly policy: SitePolicy | undefined
  readonly problems: readonly string[]
  readonly environmentProblems: readonly string[]
}

/** Merges the policy of the build with the rules of all sources. */
export function resolvePolicy(
  { policy: build, environment, serving }: Pick<Manifest, 'policy' | 'environment' | 'serving'>,
  { headersFile, rules, values }: PolicySources,
): ResolvedPolicy {
  const counting = countingPolicyRules(rules.map(({ csp }) => csp))
  if (counting === undefined) return { policy: undefined, problems: [], environmentProblems: [] }
  const field = policyFieldName(counting)
  const { origins, ruleProblems, problems } = environmentOrigins(counting, environment, values)
  const placed = rules.map((each) => ({
    place: each === serving ? "the plugin's option serving." : '',
    rules: each,
  }))
  const lines = headersFile.filter(({ fields }) =>
    Object.entries(fields).some(
      ([name, value]) => name.toLowerCase() === field.toLowerCase() && value !== null,
    ),
  )
  return {
    policy: {
      field,
      rules: counting,
      from: rules
        .filter(({ csp }) => csp !== undefined && csp !== false)
        .map((each) => (each === serving ? 'the plugin' : 'serve-dist.config, --csp or CSP')),
      valueFor: createContentSecurityPolicy({
        rules: counting,
        build,
        originOf: (name) => origins.get(name),
      }),
    },
    problems: [
      ...ruleProblems,
      ...policyConflicts(placed),
      ...lines.map(({ pattern }) => `_headers, ${pattern}, ${field}: ${beside}`),
    ],
    environmentProblems: problems,
  }
}
