import type { RequestFields } from './request-fields.ts'

const refused = /^q=0(?:\.0{0,3})?$/

/**
 * Returns whether a browser requests a page to show: `Sec-Fetch-Mode: navigate`, or without that field an
 * `Accept` with `text/html`.
 */
export function isNavigation(request: RequestFields): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false
  if (request.secFetchMode !== undefined) return request.secFetchMode.toLowerCase() === 'navigate'
  return request.accept !== undefined && namesHtml(request.accept)
}

/** RFC 9110 §12.5.1: `text/html` itself without a q-value of zero; wildcards do not count. */
function namesHtml(accept: string): boolean {
  return accept
    .toLowerCase()
    .split(',')
    .some((member) => {
      const [type, ...parameters] = member.split(';').map((part) => part.trim())
      return type === 'text/html' && !parameters.some((parameter) => refused.test(parameter))
    })
}
