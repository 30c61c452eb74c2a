import type { PolicyRules } from './content-security-policy.ts'
import { findNearestName } from '@serve-dist/foundation/text/find-nearest-name'
import { policyDirectives } from './policy-directives.ts'
import { policySourceProblem } from './policy-source-problem.ts'
import type { EnvironmentValues, RuntimeEnvironment } from './runtime-environment.ts'

/** The origins that sources such as `{ env: 'API_URL' }` stand for, by the name of the value. */
export interface EnvironmentOrigins {
  readonly origins: ReadonlyMap<string, string>
  /** Names that the build does not know: the rule is wrong, whatever the environment. */
  readonly ruleProblems: readonly string[]
  /** Variables whose text is no URL; a line names the variable and never its text. */
  readonly problems: readonly string[]
}

/**
 * Finds the origins. A value that is not set is left out.
 *
 * @param values - absent where the rules alone are checked: at build.
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
    else problems.add(`${prefix + name}: its origin is a source of ${directive}, and ${problem}`)
  }
  return { origins, ruleProblems: [...ruleProblems], problems: [...problems] }
}

const expected = 'it must be a URL that begins with https://, http://, wss:// or ws:// and a host name'

function namesIn(rule: PolicyRules): { readonly directive: string; readonly name: string }[] {
  return policyDirectives.flatMap((directive) =>
    (rule[directive] ?? []).flatMap((source) =>
      typeof source === 'string' ? [] : [{ directive, name: source.env }],
    ),
  )
}

function unknownName(name: string, known: readonly string[]): string {
  const found = `the build takes no "${name}" from its environment`
  if (known.length === 0) return `${found}; list it in the plugin's option env`
  const nearest = findNearestName(name, known)
  return nearest === undefined
    ? `${found}; the option env lists ${known.join(', ')}`
    : `${found}; did you mean "${nearest}"?`
}

function originOf(value: unknown): { readonly origin: string; readonly problem?: string | undefined } {
  const { protocol, origin } = typeof value === 'string' && URL.canParse(value) ? new URL(value) : noUrl
  if (!/^(?:https?|wss?):$/.test(protocol)) return { origin, problem: expected }
  // A host may hold what ends a directive, or a star, which stands for all hosts.
  return { origin, problem: origin.includes('*') ? expected : policySourceProblem('connect-src', origin) }
}

const noUrl = { protocol: '', origin: '' }
