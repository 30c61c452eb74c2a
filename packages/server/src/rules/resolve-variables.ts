import {
  completeProxyAddress,
  isProxyRule,
  parseProxyAddress,
  proxyAddressForm,
  proxyFieldProblem,
  type ProxyFields,
  type RedirectRule,
} from '@serve-dist/manifest'
import { lookUpVariables, unfitForField, type VariableReader } from './variable-reader.ts'

/** Rules without variables, and a problem for each unset variable or invalid value. Problems never contain a value. */
export interface ResolvedRules {
  readonly rules: readonly RedirectRule[]
  readonly problems: readonly string[]
}

/**
 * Replaces the environment variables in rules that proxy by their values. Rules with a problem are not changed.
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
  const resolved = rules.map((rule) => {
    if (!isProxyRule(rule)) return rule
    const { from, to, request, answer } = rule
    const address =
      typeof to === 'string' ? to : valueOf(to, `the address of the rule ${from}`, problemOfAddress)
    return {
      ...rule,
      ...(address !== undefined && {
        to: typeof to === 'string' ? to : completeProxyAddress(address, { from, path: to.path }),
      }),
      ...(request !== undefined && { request: fieldsOf(request, from) }),
      ...(answer !== undefined && { answer: fieldsOf(answer, from) }),
    }
  })
  return { rules: resolved, problems }
}

function problemOfAddress(text: string): string | undefined {
  // A variable of the rule in an address could come from the path of a request.
  const isAddress = parseProxyAddress(text) !== undefined && !/\/:[A-Za-z]/.test(text)
  return isAddress ? undefined : `expected ${proxyAddressForm}`
}
