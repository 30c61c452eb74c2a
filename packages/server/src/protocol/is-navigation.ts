import type { RequestFields } from './request-fields.ts'

const refused = /^q=0(?:\.0{0,3})?$/

/**
 * Returns whether a client requests a page to show: `Sec-Fetch-Mode: navigate`, or without that field an
 * `Accept` with `text/html`. Clients such as curl accept any type. Their request is a navigation if the last
 * segment of the path has no dot.
 *
 * @param path - the parsed path of the request.
 */
export function isNavigation({ method, secFetchMode, accept }: RequestFields, path: string): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  if (secFetchMode !== undefined) return secFetchMode.toLowerCase() === 'navigate'
  const hasDot = path.lastIndexOf('.') > path.lastIndexOf('/')
  if (accept === undefined) return !hasDot
  return accepts(accept, 'text/html') ?? (!hasDot && accepts(accept, '*/*') === true)
}

/** Returns whether `Accept` gives a media range a weight above zero, or `undefined` if it does not name it (RFC 9110 §12.5.1). */
function accepts(accept: string, range: string): boolean | undefined {
  const named = accept
    .toLowerCase()
    .split(',')
    .map((member) => member.split(';').map((part) => part.trim()))
    .filter(([type]) => type === range)
  if (named.length === 0) return undefined
  return named.some((parts) => !parts.some((part) => refused.test(part)))
}
