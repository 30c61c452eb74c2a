import type { IncomingMessage } from 'node:http'
import { redirectTo } from './answers.ts'
import type { Answer } from './site.ts'

/**
 * An answer as it is to be sent where Express, Connect or Polka has taken the path of a mount off the
 * target: redirects are relative to the mount, and the mount itself, without its slash, is redirected.
 */
export function underMount(answer: Answer, request: IncomingMessage): Answer {
  if (!('originalUrl' in request) || typeof request.originalUrl !== 'string') return answer
  const [path, query] = split(request.originalUrl)
  const mount = mountOf(request, path)
  // It must not make the location another host's.
  if (!/^\/[^/\\]/.test(mount)) return answer

  const isGet = request.method === 'GET' || request.method === 'HEAD'
  if (mount === path && isGet && answer.status !== 404) {
    return redirectTo({ status: 308, location: `${mount}/` }, query)
  }
  const index = answer.fields.indexOf('Location') + 1
  const location = answer.fields[index] ?? ''
  if (index === 0 || !location.startsWith('/')) return answer
  const fields = [...answer.fields]
  fields[index] = mount + location
  return { ...answer, fields }
}

/** Express tells it; else it is what stands before the rest of the path, where that was not rewritten. */
function mountOf(request: IncomingMessage, path: string): string {
  if ('baseUrl' in request && typeof request.baseUrl === 'string') return request.baseUrl
  const [rest] = split(request.url ?? '')
  return rest.length > 1 && path.endsWith(rest) ? path.slice(0, -rest.length) : ''
}

/** The path and the query of a target, in absolute form too (RFC 9112 §3.2.2). */
function split(target: string): [path: string, query: string] {
  const origin = target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '')
  const end = origin.search(/[?#]/)
  return end === -1 ? [origin, ''] : [origin.slice(0, end), origin.slice(end).replace(/#.*$/s, '')]
}
