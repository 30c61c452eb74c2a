import { OperatorError } from './operator-error.ts'
import { isBasePath } from './is-base-path.ts'

/**
 * Returns the decoded path under which the server serves a build with Vite's `base`. A relative base becomes `/`. A
 * full URL becomes its path, which a CDN requests from this server.
 *
 * @throws OperatorError if no request can match the base.
 */
export function servedBase(base: string): string {
  if (base === '' || base.startsWith('.')) return '/'
  const { pathname } = new URL(base, 'http://localhost')
  const segments = pathname.replace(/\/$/, '').split('/').slice(1)
  const decoded = segments.map((segment) => decodeSegment(segment) ?? refuse(base, segment))
  return ['', ...decoded, ''].join('/')
}

function decodeSegment(segment: string): string | undefined {
  try {
    // Each segment is decoded separately, because an escaped slash must not become a separator.
    const text = decodeURIComponent(segment)
    return !text.includes('/') && isBasePath(`/${text}/`) ? text : undefined
  } catch {
    return undefined
  }
}

function refuse(base: string, segment: string): never {
  throw new OperatorError('SD_OPTION_INVALID', [
    `Vite's option "base": ${JSON.stringify(base)} cannot be served because of its segment "${segment}". Choose a base without empty segments, invalid escapes, %2F, %5C, %3F, %23 and control characters.`,
  ])
}
