import { globMatcherOf } from './field-rules.ts'
import type { BasicAuth } from './site.ts'

/** An application may decode such escapes and segments once more, and so read another path. */
const ambiguous = /%(?:2f|5c|25)|\/\.{1,2}(?:[;/]|$)/i

/**
 * Returns whether a path needs no credentials.
 *
 * @param path - percent-encoded.
 */
export function isExceptedPath({ except }: BasicAuth, path: string): boolean {
  if (except.length === 0 || ambiguous.test(path)) return false
  const decoded = decodeURIComponent(path).slice(1) || '/'
  return except.some((glob) => globMatcherOf(glob)(decoded))
}
