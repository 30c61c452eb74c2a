import type { PolicyRules } from './content-security-policy.ts'
import { findNearestName } from '@serve-dist/foundation/text/find-nearest-name'
import { policyDirectives } from './policy-directives.ts'
import { policySourceProblem } from './policy-source-problem.ts'
import type { EnvironmentValues, RuntimeEnvironment } from './runtime-environment.ts'

/** The origins for sources such as `{ env: 'API_URL' }`, by the name of the value. */
export interface EnvironmentOrigins {
  readonly origins: ReadonlyMap<string, string>
  /** Problems with names that the build does not list. They do not depend on the environment. */
  readonly ruleProblems: readonly string[]
  /** Problems with values that are not URLs. They contain the name of the variable, but never its value. */
  readonly problems: readonly string[]
}

/**
 * Finds the origins. Skips values that are not set.
 *
 * @param values - absent during a build, when only the rules are checked.
 */
export function environmentOrigins(
  rules: readonly PolicyRules[],
  { prefix = '', variables = {} }: Partial<Pick<RuntimeEnvironment, 'prefix' | 'variables'>> = {},
  values: EnvironmentValues = {},
): EnvironmentOrigins {
  const origins = new Map<string, string>()
  const [ruleProblems, problems] = [new Set<string>(), new Set<string>()]
  for (const { directive, name } of rules.flatMap(namesIn)) {
    if (!Object.hasOwn(variables, name)) {
      ruleProblems.add(`csp[${JSON.stringify(directive)}]: ${unknownName(name, Object.keys(variables))}`)
      continue
    }
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined || value === '') continue
    const { origin, problem } = originOf(value)
    if (problem === undefined) origins.set(name, origin)
    else problems.add(`${prefix + name}: its origin is a source of ${directive}: ${problem}`)
  }
  return { origins, ruleProblems: [...ruleProblems], problems: [...problems] }
}

const expected = 'expected a URL that starts with https://, http://, wss:// or ws:// and a host name'

function namesIn(rule: PolicyRules): { readonly directive: string; readonly name: string }[] {
  return policyDirectives.flatMap((directive) =>
    (rule[directive] ?? []).flatMap((source) =>
      typeof source === 'string' ? [] : [{ directive, name: source.env }],
    ),
  )
}

function unknownName(name: string, known: readonly string[]): string {
  const found = `the plugin's option env does not list "${name}"`
  if (known.length === 0) return `${found}. Add it to this option.`
  const nearest = findNearestName(name, known)
  return `${found}. ${nearest === undefined ? `It lists ${known.join(', ')}.` : `Did you mean "${nearest}"?`}`
}

function originOf(value: unknown): { readonly origin: string; readonly problem?: string | undefined } {
  const { protocol, origin } = typeof value === 'string' && URL.canParse(value) ? new URL(value) : noUrl
  if (!/^(?:https?|wss?):$/.test(protocol)) return { origin, problem: expected }
  // The host of a URL can contain `;`, which ends a directive, or `*`, which matches all hosts.
  return { origin, problem: origin.includes('*') ? expected : policySourceProblem('connect-src', origin) }
}

const noUrl = { protocol: '', origin: '' }
