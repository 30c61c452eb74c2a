import type { RedirectRule, RedirectStatus } from '@serve-dist/manifest'
import { decodeWrittenPath } from './decode-written-path.ts'
import { encodePath, parseRequestPath } from '../protocol/request-path.ts'
import type { Entry, Resource } from './site.ts'

/** What paths look like, taken apart for matching. */
interface PathShape {
  /** The path's segments, each as percent-encoded text and names of variables by turns. */
  readonly segments: readonly (readonly string[])[]
  /** Whether any number of segments may follow. */
  readonly hasSplat: boolean
}

/** A redirect rule, ready for matching. */
export interface RedirectPattern extends PathShape {
  /** What the rule makes of paths; `undefined` for other hosts, and where `:splat` is not all of the end. */
  readonly image: PathShape | undefined
  /** Whether it leads back to where it begins, so that it never counts (`mark-endless-redirects.ts`). */
  readonly isEndless: boolean
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
  const found = isRewrite({ status }) ? table.get(encodePath(decodeWrittenPath(to))) : undefined
  return {
    ...toShape(from),
    image: imageOf(to),
    isEndless: false,
    from,
    to,
    status,
    force,
    target: found?.kind === 'resource' ? found : undefined,
  }
}

/** Whether a rule sends a file of the build in the place of its paths, and not the client elsewhere. */
export function isRewrite({ status }: Pick<RedirectPattern, 'status'>): boolean {
  return status === 200 || status === 404
}

/** The one path that a rule is about, percent-encoded; `undefined` where it is about several. */
export function onlyPathOf({ segments, hasSplat }: PathShape): string | undefined {
  const isOne = !hasSplat && segments.every((parts) => parts.length === 1)
  return isOne ? `/${segments.flat().join('/')}` : undefined
}

/** The path that a location names on this host, in the form that keys the table. */
export function pathWithin(location: string): string | undefined {
  if (!location.startsWith('/')) return undefined
  const parsed = parseRequestPath(location)
  return typeof parsed === 'string' ? undefined : parsed.path
}

/** The first pattern that matches a percent-encoded path, with its variables filled in. */
export function matchRedirect(patterns: readonly RedirectPattern[], path: string): RedirectMatch | undefined {
  const segments = path.split('/').slice(1)
  for (const pattern of patterns) {
    if (pattern.isEndless) continue
    const variables = matchSegments(pattern, segments)
    if (variables === undefined) continue
    const { status, target } = pattern
    if (isRewrite(pattern) && target === undefined) continue
    const location = fill(pattern.to, variables)
    // What a client put into the path must not make the location another host's.
    if (location.startsWith('//') || location.startsWith('/\\')) continue
    if (target === undefined && neverEnds(pattern, path, location)) continue
    return { status, location, target }
  }
  return undefined
}

/**
 * Whether a redirect leads to the very path, or from a path that it made itself to a longer one of that
 * kind (`/* → /new/:splat` for a page that is not there under `/new/` either).
 */
function neverEnds(pattern: RedirectPattern, path: string, location: string): boolean {
  const next = pathWithin(location)
  if (next === undefined || next === path) return next === path
  const { image } = pattern
  return next.length > path.length && image !== undefined && covers(image, path) && covers(pattern, next)
}

/** Whether a percent-encoded path has a shape. */
export function covers(shape: PathShape, path: string): boolean {
  return matchSegments(shape, path.split('/').slice(1)) !== undefined
}

function toShape(form: string): PathShape {
  const hasSplat = form.endsWith('/*')
  const text = hasSplat ? form.slice(0, -'/*'.length) : form
  return { segments: text.split('/').slice(1).map(toParts), hasSplat }
}

function imageOf(to: string): PathShape | undefined {
  const form = to.replace(/[?#].*$/s, '').replace(/\/:splat$/, '/*')
  return form.startsWith('/') && !form.includes(':splat') ? toShape(form) : undefined
}

/** `:id.html` is `['', 'id', '.html']`. */
function toParts(segment: string): string[] {
  return segment
    .split(/:([A-Za-z]\w*)/)
    .map((part, index) => (index % 2 === 0 ? encodePath(decodeWrittenPath(part)) : part))
}

function matchSegments(
  { segments, hasSplat }: PathShape,
  path: readonly string[],
): ReadonlyMap<string, string> | undefined {
  if (hasSplat ? path.length < segments.length : path.length !== segments.length) return undefined
  const variables = new Map<string, string>()
  for (const [index, parts] of segments.entries()) {
    if (!matchSegment(parts, path[index] ?? '', variables)) return undefined
  }
  return hasSplat ? variables.set('splat', path.slice(segments.length).join('/')) : variables
}

/**
 * From the end to the beginning, so that of several variables the first takes the most, as in a regular
 * expression, and a hostile segment costs no more than a search for each.
 */
function matchSegment(parts: readonly string[], segment: string, variables: Map<string, string>): boolean {
  const first = parts[0] ?? ''
  if (parts.length === 1) return segment === first
  const last = parts.at(-1) ?? ''
  if (!segment.startsWith(first) || !segment.endsWith(last)) return false
  let end = segment.length - last.length
  for (let index = parts.length - 2; index > 0; index -= 2) {
    const before = index === 1 ? first : (parts[index - 1] ?? '')
    // A variable takes one character at least.
    const latest = end - 1 - before.length
    if (latest < 0) return false
    const start = index === 1 ? 0 : segment.lastIndexOf(before, latest)
    if (start === -1) return false
    variables.set(parts[index] ?? '', segment.slice(start + before.length, end))
    end = start
  }
  return true
}

function fill(to: string, variables: ReadonlyMap<string, string>): string {
  return to.replaceAll(/:([A-Za-z]\w*)/g, (placeholder, name: string) => variables.get(name) ?? placeholder)
}
