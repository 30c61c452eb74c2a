import type { RedirectRule, RedirectStatus } from '@serve-dist/manifest'
import { encodePath } from './request-path.ts'
import type { Entry, Resource } from './site.ts'

/** A redirect rule, taken apart for matching. */
export interface RedirectPattern {
  /** Percent-encoded segments of the path; `:name` stands for any one, `*` (last) for any number. */
  readonly segments: readonly string[]
  /** As the rule has it. */
  readonly from: string
  readonly to: string
  readonly status: RedirectStatus
  readonly force: boolean
  /** The file that statuses 200 and 404 answer with. */
  readonly target: Resource | undefined
}

/** What a path got from the first pattern that matches it. */
export interface RedirectMatch {
  readonly status: RedirectStatus
  readonly location: string
  readonly target: Resource | undefined
}

/** A rule with its target found in the table: a rewrite whose file is not there never matches. */
export function toRedirectPattern(
  { from, to, status = 308, force = false }: RedirectRule,
  table: ReadonlyMap<string, Entry>,
): RedirectPattern {
  const segments = from
    .slice(1)
    .split('/')
    .map((segment) => (isVariable(segment) ? segment : encodePath(decode(segment))))
  const found = status === 200 || status === 404 ? table.get(encodePath(decode(to))) : undefined
  return { segments, from, to, status, force, target: found?.kind === 'resource' ? found : undefined }
}

/** The first pattern that matches a percent-encoded path, with its variables filled in. */
export function matchRedirect(patterns: readonly RedirectPattern[], path: string): RedirectMatch | undefined {
  for (const pattern of patterns) {
    const variables = matchSegments(pattern.segments, path.slice(1).split('/'))
    if (variables === undefined) continue
    const { status, target } = pattern
    if ((status === 200 || status === 404) && target === undefined) continue
    const location = fill(pattern.to, variables)
    // What a client put into the path must not make the location another host's.
    if (location.startsWith('//') || location.startsWith('/\\')) continue
    // A redirect to the very path would never end.
    if (target === undefined && location === path) continue
    return { status, location, target }
  }
  return undefined
}

function matchSegments(
  pattern: readonly string[],
  path: readonly string[],
): ReadonlyMap<string, string> | undefined {
  const variables = new Map<string, string>()
  for (const [index, expected] of pattern.entries()) {
    if (expected === '*') return variables.set('splat', path.slice(index).join('/'))
    const segment = path[index]
    if (segment === undefined) return undefined
    if (expected.startsWith(':')) {
      if (segment === '') return undefined
      variables.set(expected.slice(1), segment)
    } else if (segment !== expected) return undefined
  }
  return path.length === pattern.length ? variables : undefined
}

function fill(to: string, variables: ReadonlyMap<string, string>): string {
  return to.replaceAll(/:([A-Za-z]\w*)/g, (placeholder, name: string) => variables.get(name) ?? placeholder)
}

function isVariable(segment: string): boolean {
  return segment === '*' || segment.startsWith(':')
}

/** Rules are written by people: `/über uns` and `/%C3%BCber%20uns` mean the same. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A percent sign that begins no escape stands for itself.
    return text
  }
}
