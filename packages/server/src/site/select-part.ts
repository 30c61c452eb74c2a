import { parseRequestPath } from '../protocol/request-path.ts'
import { memoizeWeakly } from './memoize-weakly.ts'
import type { Site } from './site.ts'

/** Returns the build that answers a request: the site itself, or one of its parts. */
export function siteFor(site: Site, target: string): Site {
  const { parts } = site
  if (parts === undefined) return site
  // Rules that proxy also answer paths with empty segments and dot segments.
  const parsed = parseRequestPath(target, true)
  return typeof parsed === 'string' ? site : selectPart(parts, parsed.path)
}

/**
 * Returns the build that a path belongs to.
 *
 * @param path - percent-encoded.
 */
export function selectPart(parts: readonly Site[], path: string): Site {
  const found = byLongestBase(parts).find(({ base }) => path.startsWith(base) || path === base.slice(0, -1))
  const [first] = parts
  if (first === undefined) throw new RangeError('a site has at least one part')
  return found ?? first
}

const byLongestBase = memoizeWeakly((parts: readonly Site[]) =>
  parts.toSorted((one, other) => other.base.length - one.base.length),
)
