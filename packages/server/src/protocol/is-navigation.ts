import type { RequestFields } from './request-fields.ts'

const html = /(?:^|,)\s*text\/html\s*(?:;([^,]*))?(?=,|$)/g
const anyType = /(?:^|,)\s*\*\/\*\s*(?:;([^,]*))?(?=,|$)/g
const refused = /(?:^|;)\s*q=0(?:\.0{0,3})?\s*(?:;|$)/

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
  const accepted = accept.toLowerCase()
  return accepts(accepted, html) ?? (!hasDot && accepts(accepted, anyType) === true)
}

/** Returns whether `Accept` gives a media range a weight above zero, or `undefined` if it does not name it (RFC 9110 §12.5.1). */
function accepts(accept: string, range: RegExp): boolean | undefined {
  const parameters = Array.from(accept.matchAll(range), ([, text = '']) => text)
  if (parameters.length === 0) return undefined
  return parameters.some((text) => !refused.test(text))
}
