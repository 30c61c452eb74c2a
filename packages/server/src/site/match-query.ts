import { variableOfValue } from '@serve-dist/manifest'

/** The variables of a query, and the part of the query that the rule does not name. */
export interface QueryMatch {
  /** Percent-encoded. */
  readonly variables: ReadonlyMap<string, string>
  /** With its question mark, or `''`. */
  readonly rest: string
}

/**
 * Matches the parameters of a rule with a query. Their order plays no part. Of a repeated parameter, the first
 * value counts.
 *
 * @param query - with its question mark, or `''`.
 */
export function matchQuery(wanted: ReadonlyMap<string, string>, query: string): QueryMatch | undefined {
  const given = new URLSearchParams(query)
  const variables = new Map<string, string>()
  for (const [name, value] of wanted) {
    const found = given.get(name)
    const variable = variableOfValue(value)
    if (variable === undefined ? found !== value : !isVariable(found)) return undefined
    if (variable !== undefined) variables.set(variable, encodeURIComponent(found ?? ''))
  }
  const rest = query
    .slice(1)
    .split('&')
    .filter((part) => !wanted.has([...new URLSearchParams(part).keys()][0] ?? ''))
    .join('&')
  return { variables, rest: rest === '' ? '' : `?${rest}` }
}

/** A dot segment would lead out of the path of the rule. */
function isVariable(value: string | null): boolean {
  return value !== null && value !== '' && value !== '.' && value !== '..'
}
