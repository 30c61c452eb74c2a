import type { IncomingMessage } from 'node:http'
import { splitTarget } from '../protocol/request-head.ts'
import { redirectTo } from '../site/answers.ts'
import type { Answer } from '../site/site.ts'

/**
 * Adapts an answer to a mount of Express, Connect or Polka, which removes the mount path from the target.
 * Redirects, links and patterns get the mount path as a prefix. The mount path without a slash redirects.
 */
export function relocateAnswer(answer: Answer, request: IncomingMessage): Answer {
  if (!('originalUrl' in request) || typeof request.originalUrl !== 'string') return answer
  const target = splitTarget(request.originalUrl)
  if (target === undefined) return answer
  const { path, query } = target
  const mount = mountOf(request, path)
  // The mount must not change the host of the location.
  if (!/^\/[^/\\]/.test(mount)) return answer

  const isGet = request.method === 'GET' || request.method === 'HEAD'
  if (mount === path && isGet && answer.status !== 404) {
    return redirectTo({ status: 308, location: `${mount}/` }, query)
  }
  const isPlaced = answer.earlyHints !== undefined || answer.fields.some(namesPlaces)
  return isPlaced ? place(answer, mount) : answer
}

/** A separate function, because its closures would otherwise be allocated for requests without a mount. */
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

/** Escapes a mount for a URL pattern (URL Pattern §1.1) within a string (RFC 9651 §3.3.3). */
function patternOf(mount: string): string {
  return mount.replaceAll(/[()*+:[\]^|{}"\\]/g, (character) =>
    '()*+'.includes(character) ? `\\\\${character}` : '*',
  )
}

/** RFC 8288 §3: the target of each link is in angle brackets. */
function placedLinks(links: string, mount: string): string {
  return links.replaceAll(/(^|,[ \t]*)<\/(?!\/)/g, (_link, before: string) => `${before}<${mount}/`)
}

/**
 * Returns the mount path. Express provides it as `baseUrl`. Otherwise it is the part of the path before the
 * rest, unless the target was rewritten. If the full path was restored, the build has the mount as its
 * base.
 */
function mountOf(request: IncomingMessage, path: string): string {
  const rest = splitTarget(request.url ?? '')?.path
  if (rest === undefined || rest === path) return ''
  if ('baseUrl' in request && typeof request.baseUrl === 'string') return request.baseUrl
  return rest.length > 1 && path.endsWith(rest) ? path.slice(0, -rest.length) : ''
}
