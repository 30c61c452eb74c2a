import { encodePath, preservedEscape } from '../protocol/request-path.ts'

/**
 * A pattern of `_headers` or of a redirect rule: percent-encoded text and variable names alternate. The
 * first and the last element are text. `:name` matches one or more characters of one segment. `*` matches
 * any characters, including slashes.
 */
export type PathPattern = readonly string[]

export function parsePathPattern(written: string): PathPattern {
  return written
    .split(/(\*|:[A-Za-z]\w*)/)
    .map((part, index) => (index % 2 === 0 ? encodeWrittenPath(part) : part.replace(':', '')))
}

/**
 * Percent-encodes the path of a rule. `/über uns` and `/%C3%BCber%20uns` are equal. Preserved escapes stay,
 * as in requests.
 */
export function encodeWrittenPath(text: string): string {
  // Segments are encoded separately: an invalid escape in one must not affect the others.
  return text.split('/').map(encodeSegment).join('/')
}

function encodeSegment(text: string): string {
  return text
    .split(preservedEscape)
    .map((piece, index) => (index % 2 === 0 ? encodePath(decodePiece(piece)) : piece.toUpperCase()))
    .join('')
}

/** Returns the values of the variables in a percent-encoded path. The first variable is the longest. */
export function matchPath(pattern: PathPattern, path: string): ReadonlyMap<string, string> | undefined {
  const [first = ''] = pattern
  if (pattern.length === 1) return path === first ? new Map() : undefined
  if (!path.startsWith(first) || !path.endsWith(pattern.at(-1) ?? '')) return undefined
  const starts = startsOf(pattern, path)
  const variables = new Map<string, string>()
  let from = first.length
  for (let index = 1; index < pattern.length; index += 2) {
    const name = pattern[index] ?? ''
    const slash = name === '*' ? -1 : path.indexOf('/', from)
    const limit = slash === -1 ? path.length : slash
    const end = starts[(index - 1) / 2]?.find((start) => start <= limit) ?? -1
    if (end < from + leastLength(name)) return undefined
    variables.set(name, path.slice(from, end))
    from = end + (pattern[index + 1] ?? '').length
  }
  return variables
}

/**
 * Returns, for each text after a variable, its possible start positions, the last one first. Each text
 * needs one pass from the end. A regular expression could try a hostile path in every combination.
 */
function startsOf(pattern: PathPattern, path: string): readonly (readonly number[])[] {
  const last = path.length - (pattern.at(-1) ?? '').length
  let rest: readonly number[] = isWithinEscape(path, last) ? [] : [last]
  const all = [rest]
  for (let index = pattern.length - 3; index > 0; index -= 2) {
    const text = pattern[index] ?? ''
    const name = pattern[index + 1] ?? ''
    const found: number[] = []
    let limit = path.length
    let next = 0
    for (let start = path.length - text.length; start >= 0; start -= 1) {
      const end = start + text.length
      if (name !== '*' && path[end] === '/') limit = end
      if (!path.startsWith(text, start) || isWithinEscape(path, start)) continue
      while ((rest[next] ?? -1) > limit) next += 1
      if ((rest[next] ?? -1) >= end + leastLength(name)) found.push(start)
    }
    rest = found
    all.unshift(rest)
  }
  return all
}

/** Escapes are indivisible: `20` does not match within `%20`. */
function isWithinEscape(path: string, at: number): boolean {
  return path[at - 1] === '%' || path[at - 2] === '%'
}

function leastLength(name: string): 0 | 1 {
  return name === '*' ? 0 : 1
}

function decodePiece(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A percent sign without a valid escape is literal.
    return text
  }
}
