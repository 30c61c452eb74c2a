import type { IncomingMessage } from 'node:http'
import { splitTarget } from '../protocol/request-head.ts'
import { redirectTo } from '../site/answers.ts'
import type { Answer } from '../site/site.ts'

/**
 * An answer as it is to be sent where Express, Connect or Polka has taken the path of a mount off the
 * target: redirects, links and patterns are relative to the mount, and the mount itself, without its slash, is redirected.
 */
export function relocateAnswer(answer: Answer, request: IncomingMessage): Answer {
  if (!('originalUrl' in request) || typeof request.originalUrl !== 'string') return answer
  const target = splitTarget(request.originalUrl)
  if (target === undefined) return answer
  const { path, query } = target
  const mount = mountOf(request, path)
  // It must not make the location another host's.
  if (!/^\/[^/\\]/.test(mount)) return answer

  const isGet = request.method === 'GET' || request.method === 'HEAD'
  if (mount === path && isGet && answer.status !== 404) {
    return redirectTo({ status: 308, location: `${mount}/` }, query)
  }
  const isPlaced = answer.earlyHints !== undefined || answer.fields.some(namesPlaces)
  return isPlaced ? place(answer, mount) : answer
}

/** By itself: what closures keep is allocated when a function begins, and most requests have no mount. */
function place(answer: Answer, mount: string): Answer {
  const { fields, earlyHints } = answer
  return {
    ...answer,
    fields: fields.map((value, index) => (index % 2 === 1 ? placed(fields[index - 1], value, mount) : value)),
    ...(earlyHints !== undefined && { earlyHints: earlyHints.map((link) => placedLinks(link, mount)) }),
  }
}

function namesPlaces(name: string): boolean {
  return name === 'Location' || name === 'Use-As-Dictionary' || name.toLowerCase() === 'link'
}

function placed(name: string | undefined, value: string, mount: string): string {
  if (name === 'Location') return value.startsWith('/') ? mount + value : value
  if (name === 'Use-As-Dictionary') return value.replace('match="/', () => `match="${patternOf(mount)}/`)
  return name?.toLowerCase() === 'link' ? placedLinks(value, mount) : value
}

/** A mount as it was asked for, in a pattern (URL Pattern §1.1) in a string (RFC 9651 §3.3.3). */
function patternOf(mount: string): string {
  return mount.replaceAll(/[()*+:[\]^|{}"\\]/g, (character) =>
    '()*+'.includes(character) ? `\\\\${character}` : '*',
  )
}

/** RFC 8288 §3: the target of each link stands in angle brackets. */
function placedLinks(links: string, mount: string): string {
  return links.replaceAll(/(^|,[ \t]*)<\/(?!\/)/g, (_link, before: string) => `${before}<${mount}/`)
}

/**
 * Express has it in `baseUrl`; else it is what stands before the rest of the path, if nobody rewrote that. Where the
 * whole path was put back, the build has that base.
 */
function mountOf(request: IncomingMessage, path: string): string {
  const rest = splitTarget(request.url ?? '')?.path
  if (rest === undefined || rest === path) return ''
  if ('baseUrl' in request && typeof request.baseUrl === 'string') return request.baseUrl
  return rest.length > 1 && path.endsWith(rest) ? path.slice(0, -rest.length) : ''
}
