import { proxyAddressProblem } from './proxy-address.ts'

type RedirectQuery = Readonly<Record<string, string>>

const source = /^\/(?!\/)[^\s?#\p{Cc}\p{Cs}]*$/u
const target = /^(?:\/(?![/\\])|https?:\/\/)[\x21-\x7E]*$/
const variable = /:([A-Za-z]\w*)/g
/** A variable with a hyphen, which is not part of a name. The user may have meant the whole text as the name. */
const doubtfulVariable = /:[A-Za-z]\w*-\w[\w-]*/
/** Matches variables only at the start of a segment or of a value. `/wiki/File:Logo` is an ordinary path. */
const wholeVariable = /(?<=[/=]):([A-Za-z]\w*)/g
/**
 * Matches variables in an authority without a host name of the operator after them. `:lang.example.com` is the
 * operator's own host.
 */
const hostVariable = /:[A-Za-z]\w*(?![\w.])/g

/** The forms of a target, for messages. */
export const redirectTargetForm =
  'a path that starts with one "/", an http(s) URL, or (with status 200) "unix:" and a socket'

/** Returns the problem of the source of a redirect, or `undefined`. */
export function redirectSourceProblem(from: string): string | undefined {
  if (!source.test(from)) return 'expected a path such as "/old/*"'
  if (/\*./.test(from) || /[^/]\*/.test(from))
    return 'expected a path with "*" only as its last segment, as in "/old/*"'
  const doubtful = doubtfulVariable.exec(from)?.[0]
  if (doubtful !== undefined) return `"${doubtful}" is not a valid variable. Use letters, digits and "_".`
  const names = variablesOf(from)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  return twice === undefined ? undefined : `"${twice}" occurs twice`
}

/** Returns the problem of the target of a redirect or proxy, or `undefined`. */
export function redirectTargetProblem(
  to: string,
  from: string,
  { query = {}, isProxied = false }: { readonly query?: RedirectQuery; readonly isProxied?: boolean } = {},
): string | undefined {
  if (isProxied) {
    const problem = proxyAddressProblem(to)
    if (problem !== undefined) return problem
  } else if (!target.test(to)) return `expected ${redirectTargetForm}`
  const known = new Set([...variablesOf(from), ...variablesOfQuery(query)])
  const unknown = namesIn(to, wholeVariable).find((name) => !known.has(name))
  if (unknown !== undefined) return `"${unknown}" is not a variable of "${from}"`
  const [, authority = ''] = /^https?:\/\/([^/?#]+)/.exec(to) ?? []
  const chosen = namesIn(authority, hostVariable).find((name) => known.has(name))
  return chosen === undefined ? undefined : `"${chosen}" would let a request choose the host`
}

/** Returns the problem of the query of a redirect, or `undefined`. */
export function redirectQueryProblem(from: string, query: RedirectQuery = {}): string | undefined {
  const names = [...variablesOf(from), ...variablesOfQuery(query)]
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  return twice === undefined ? undefined : `"${twice}" occurs twice`
}

/** Returns the name of the variable that a value of a query consists of, or `undefined`. */
export function variableOfValue(value: string): string | undefined {
  return /^:([A-Za-z]\w*)$/.exec(value)?.[1]
}

function variablesOfQuery(query: RedirectQuery): string[] {
  return Object.values(query).filter((value) => variableOfValue(value) !== undefined)
}

function variablesOf(from: string): string[] {
  return [...namesIn(from, variable), ...(from.endsWith('*') ? [':splat'] : [])]
}

function namesIn(text: string, form: RegExp): string[] {
  return [...text.matchAll(form)].map(([whole]) => whole)
}
