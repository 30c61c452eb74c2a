import type { PathPattern } from '../site/path-pattern.ts'
import type { RedirectPattern } from '../site/site.ts'

/**
 * The paths of a redirect rule as a regular expression over the request target as a client sends it: what it captures is
 * percent-encoded already, so that it can stand in a `Location`. The last group is the query with its question mark, if
 * there is one.
 */
export function rawTargetPattern(form: PathPattern): string {
  return `^${form.map((part, index) => patternOfPart(form, part, index)).join('')}(\\?.*)?$`
}

/** The same without groups, to stand inside another one. */
export function withoutCaptures(pattern: string): string {
  return pattern.replaceAll(/(?<!\\)\((?!\?)/g, '(?:')
}

function patternOfPart(form: PathPattern, part: string, index: number): string {
  // A `/*` at the end matches what stands before its slash, too.
  const isBeforeEnd = form[index + 1] === '*' && index === form.length - 3 && form.at(-1) === ''
  if (index % 2 === 0) {
    return isBeforeEnd && part.endsWith('/') ? patternOfText(part.slice(0, -1)) : patternOfText(part)
  }
  if (part !== '*') return '([^/?]+)'
  const isWholeEnd =
    index === form.length - 2 && form.at(-1) === '' && form[index - 1]?.endsWith('/') === true
  return isWholeEnd ? '(?:/([^?]*))?' : '([^?]*)'
}

/** Percent-encoded text, also as clients write it that leave an ASCII character as it is. */
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

/** Text that stands for itself in a regular expression. */
export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}

/**
 * Returns the target of a redirect with nginx's variables (`$1`) for what the pattern captured. A target without a query of
 * its own gets that of the request.
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

/** A location without what configurations read as more than text. */
function encodeLocation(text: string): string {
  return text.replaceAll(/[^!#%&-;=?-Z_a-z~]/gu, encodeURIComponent)
}
