import { OperatorError } from './operator-error.ts'
import { isBasePath } from './is-base-path.ts'

/**
 * The path under which a build with Vite's `base` is served: `/` for a relative one, the path of a full
 * URL (what a CDN in front asks this server for). Decoded, as the manifest has it.
 *
 * @throws OperatorError when no request can ask for a path below it.
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
    // Each by itself: an escaped slash would become one that divides.
    const text = decodeURIComponent(segment)
    return !text.includes('/') && isBasePath(`/${text}/`) ? text : undefined
  } catch {
    // The only error is URIError: a broken escape.
    return undefined
  }
}

function refuse(base: string, segment: string): never {
  throw new OperatorError('SD_OPTION_INVALID', [
    `Vite's option "base": ${JSON.stringify(base)} cannot be served for its segment "${segment}"; choose one without empty segments, broken escapes, %2F, %5C, %3F, %23 and control characters`,
  ])
}
