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

/** The field that carries a policy, and its values. */
export interface SitePolicy {
  readonly field: string
  /** Those that count, the weakest first. */
  readonly rules: readonly PolicyRules[]
  /** Who said so, for people. */
  readonly from: readonly string[]
  /** Without a page: of a worker, SVG or XML, which have no hashes. */
  readonly valueFor: (page?: PagePolicy) => string
}

/** What the policy is made of, besides what the build says. */
export interface PolicySources {
  readonly headersFile: readonly HeadersFileRule[]
  /** Of the plugin, then of the operator. */
  readonly rules: readonly ServingRules[]
  readonly values: EnvironmentValues
}

/** The policy where somebody wants one, and a line for each thing that is wrong with its rules or its variables. */
export interface ResolvedPolicy {
  readonly policy: SitePolicy | undefined
  readonly problems: readonly string[]
  readonly environmentProblems: readonly string[]
}

/** Joins what the build needs with the rules of all sources. */
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
        .map((each) => (each === serving ? 'the plugin' : 'serve-dist.config or --csp')),
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
