import { escapePattern } from '@serve-dist/foundation/text/escape-pattern'
import type { PathPattern } from '../site/path-pattern.ts'
import type { RedirectPattern } from '../site/site.ts'

/**
 * Returns a regular expression that matches the paths of a redirect rule in a raw request target. Its groups are
 * percent-encoded, as a `Location` needs them. The last group is the query with its question mark.
 */
export function rawTargetPattern(form: PathPattern): string {
  return `^${form.map((part, index) => patternOfPart(form, part, index)).join('')}(\\?.*)?$`
}

/** Makes all groups non-capturing, to embed a pattern in another one. */
export function withoutCaptures(pattern: string): string {
  return pattern.replaceAll(/(?<!\\)\((?!\?)/g, '(?:')
}

function patternOfPart(form: PathPattern, part: string, index: number): string {
  // A `/*` at the end also matches the path without the slash.
  const isBeforeEnd = form[index + 1] === '*' && index === form.length - 3 && form.at(-1) === ''
  if (index % 2 === 0) {
    return isBeforeEnd && part.endsWith('/') ? patternOfText(part.slice(0, -1)) : patternOfText(part)
  }
  if (part !== '*') return '([^/?]+)'
  const isWholeEnd =
    index === form.length - 2 && form.at(-1) === '' && form[index - 1]?.endsWith('/') === true
  return isWholeEnd ? '(?:/([^?]*))?' : '([^?]*)'
}

/** Matches percent-encoded text, and the same text with ASCII characters that clients may leave unencoded. */
function patternOfText(text: string): string {
  return text.replaceAll(/%[0-9A-F]{2}|[^\w/~-]/g, (piece) => {
    if (piece.length === 1) return escapePattern(piece)
    const digits = piece.slice(1).replaceAll(/[A-F]/g, (digit) => `[${digit}${digit.toLowerCase()}]`)
    const character = String.fromCodePoint(Number.parseInt(piece.slice(1), 16))
    return /[!-~]/.test(character) && !/["#%?/\\]/.test(character)
      ? `(?:%${digits}|${escapePattern(character)})`
      : `%${digits}`
  })
}

/**
 * Returns the target of a redirect, with nginx's variables (`$1`) for the groups of the pattern. The query of the request
 * is added unless the target has its own query.
 */
export function writeLocation({ form, to }: Pick<RedirectPattern, 'form' | 'to'>): string {
  const names = form.filter((_part, index) => index % 2 === 1)
  const [, place = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(to) ?? []
  const parts = place.split(/:([A-Za-z]\w*)/).map((part, index) => {
    if (index % 2 === 0) return encodeLocation(part)
    const found = names.lastIndexOf(part)
    const at = found === -1 && part === 'splat' ? names.lastIndexOf('*') : found
    return at === -1 ? `:${part}` : `$${at + 1}`
  })
  const query = place.includes('?') ? '' : '$is_args$args'
  return parts.join('') + query + encodeLocation(fragment)
}

/** Encodes the characters of a location that configurations would interpret. */
function encodeLocation(text: string): string {
  return text.replaceAll(/[^!#%&-;=?-Z_a-z~]/gu, encodeURIComponent)
}
