import { encodePath, preservedEscape } from '../protocol/request-path.ts'

/**
 * A pattern of paths, as `_headers` and redirect rules have it: percent-encoded text and names of variables by turns,
 * text first and last. `:name` stands for one character or more of one segment, `*` for any, slashes among them.
 */
export type PathPattern = readonly string[]

/** Takes a written pattern apart. */
export function parsePathPattern(written: string): PathPattern {
  return written
    .split(/(\*|:[A-Za-z]\w*)/)
    .map((part, index) => (index % 2 === 0 ? encodeWrittenPath(part) : part.replace(':', '')))
}

/** Rules are written by people: `/über uns` and `/%C3%BCber%20uns` mean the same. Kept escapes stay, as in a request. */
export function encodeWrittenPath(text: string): string {
  // By segments: a percent sign that begins no escape changes nothing in the others.
  return text.split('/').map(encodeSegment).join('/')
}

function encodeSegment(text: string): string {
  return text
    .split(preservedEscape)
    .map((piece, index) => (index % 2 === 0 ? encodePath(decodePiece(piece)) : piece.toUpperCase()))
    .join('')
}

/** What the variables of a pattern stand for in a percent-encoded path; the first takes the most. */
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
 * Where each text behind a variable may start so that the rest fits, the last place first. All places are found in one
 * walk from the end for each text: a regular expression would try a hostile path in every combination.
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

/** The `20` of `%20` is no text of its own. */
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
    // A percent sign that begins no escape stands for itself.
    return text
  }
}
