import {
  completeProxyAddress,
  isProxyRule,
  parseProxyAddress,
  proxyAddressForm,
  proxyFieldProblem,
  type ProxyFields,
  type RedirectRule,
  redirectTargetProblem,
} from '@serve-dist/manifest'
import { lookUpVariables, unfitForField, type VariableReader } from './variable-reader.ts'

/** Rules without variables, and a problem for each unset variable or invalid value. Problems never contain a value. */
export interface ResolvedRules {
  readonly rules: readonly RedirectRule[]
  readonly problems: readonly string[]
}

/**
 * Replaces the environment variables in redirect rules by their values. Rules with a problem are not changed.
 *
 * @param read - returns the value of a variable; `undefined` or `''` if it is not set.
 */
export function resolveVariables(rules: readonly RedirectRule[], read: VariableReader): ResolvedRules {
  const problems: string[] = []
  const valueOf = lookUpVariables(read, problems)
  const fieldsOf = (fields: ProxyFields, from: string): ProxyFields => {
    const entries = Object.entries(fields).map(([name, value]) => {
      if (typeof value !== 'object' || value === null) return [name, value] as const
      const use = `the field ${name} of the rule ${from}`
      const text = valueOf(value, use, (given) => proxyFieldProblem(name, given) && unfitForField)
      return [name, text ?? value] as const
    })
    return Object.fromEntries(entries)
  }
  const targetOf = (rule: RedirectRule): RedirectRule['to'] => {
    const { from, to, query = {} } = rule
    if (typeof to === 'string') return to
    if (isProxyRule(rule)) {
      const address = valueOf(to, `the address of the rule ${from}`, problemOfAddress)
      return address === undefined ? to : completeProxyAddress(address, { from, path: to.path })
    }
    const join = (text: string): string => (to.path === undefined ? text : text.replace(/\/$/, '') + to.path)
    const problemOf = (given: string): string | undefined => {
      if (to.path !== undefined && /[?#]/.test(given))
        return 'expected no query, because `path` follows the value'
      return redirectTargetProblem(join(given), from, { query }) && targetForm
    }
    const text = valueOf(to, `the target of the rule ${from}`, problemOf)
    return text === undefined ? to : join(text)
  }
  const resolved = rules.map((rule) => {
    const { from, to, request, answer } = rule
    if (typeof to === 'string' && !isProxyRule(rule)) return rule
    return {
      ...rule,
      to: targetOf(rule),
      ...(request !== undefined && { request: fieldsOf(request, from) }),
      ...(answer !== undefined && { answer: fieldsOf(answer, from) }),
    }
  })
  return { rules: resolved, problems }
}

const targetForm = 'expected a path or an http(s) URL, with variables of the rule only'

function problemOfAddress(text: string): string | undefined {
  // A variable of the rule in an address could come from the path of a request.
  const isAddress = parseProxyAddress(text) !== undefined && !/\/:[A-Za-z]/.test(text)
  return isAddress ? undefined : `expected ${proxyAddressForm}`
}
