import type { RedirectRule, RedirectStatus } from '@serve-dist/manifest'
import { parseRequestPath } from '../protocol/request-path.ts'
import { encodeWrittenPath, matchPath, parsePathPattern, type PathPattern } from './path-pattern.ts'
import { memoizeWeakly } from './memoize-weakly.ts'
import { findPlaces, indexPatterns } from './pattern-index.ts'
import type { Entry, RedirectPattern, Resource } from './site.ts'

/** What a path got from the first rule that matches it. */
export interface RedirectMatch {
  readonly status: RedirectStatus
  readonly location: string
  readonly target: Resource | undefined
  /** Absent where no rule is meant, but a fallback. */
  readonly rule?: RedirectPattern
}

/** The rules that can count, ready for matching, and a line for each that cannot. */
export interface CompiledRedirects {
  readonly patterns: readonly RedirectPattern[]
  readonly problems: readonly string[]
}

/** Where browsers give up (Fetch §4.4). */
const mostRedirects = 20

/**
 * Makes patterns of rules. A rule whose file is not in the build is left out, and so is one of a single path that
 * leads back to it, by itself (`/a` to `/a?b`) or through other redirects: without it, these may end.
 *
 * @param table - without what rules force upon it.
 */
export function compileRedirects(
  rules: readonly RedirectRule[],
  table: ReadonlyMap<string, Entry>,
): CompiledRedirects {
  const problems: string[] = []
  const leaveOut = ({ from }: RedirectRule, reason: string): false => {
    problems.push(`the redirect of ${from} never counts: ${reason}`)
    return false
  }
  const hasFile = (pattern: RedirectPattern): boolean =>
    !isRewrite(pattern) ||
    pattern.target !== undefined ||
    leaveOut(pattern, `the build has no file ${pattern.to} to answer ${pattern.status} with`)
  const all = rules.map((rule) => toRedirectPattern(rule, table)).filter(hasFile)
  const endless = new Set<RedirectPattern>()
  for (const pattern of all) {
    if (isRewrite(pattern) || !leadsBack(pattern, { all, endless, table })) continue
    leaveOut(pattern, `${pattern.to} leads back to it, without an end`)
    endless.add(pattern)
  }
  return { patterns: endless.size === 0 ? all : all.filter((pattern) => !endless.has(pattern)), problems }
}

/** The first pattern that matches a percent-encoded path, with its variables filled in. */
export function matchRedirect(
  patterns: readonly RedirectPattern[],
  path: string,
  leftOut?: ReadonlySet<RedirectPattern>,
): RedirectMatch | undefined {
  for (const place of findPlaces(indexOf(patterns), path)) {
    const pattern = patterns[place]
    const variables = pattern === undefined ? undefined : match(pattern.form, path)
    if (pattern === undefined || variables === undefined || leftOut?.has(pattern) === true) continue
    const { status, target } = pattern
    const location = fill(pattern.to, variables)
    // What a client put into the path must not make the location another host's.
    if (location.startsWith('//') || location.startsWith('/\\')) continue
    if (target === undefined && neverEnds(pattern, path, location)) continue
    return { status, location, target, rule: pattern }
  }
  return undefined
}

/** Those that count whatever the build has; the same list each time. */
export const forcedRedirects: (patterns: readonly RedirectPattern[]) => readonly RedirectPattern[] =
  memoizeWeakly((patterns) => patterns.filter(({ force }) => force))

const indexOf = memoizeWeakly((patterns: readonly RedirectPattern[]) =>
  indexPatterns(patterns.map(({ form }) => form)),
)

function toRedirectPattern(
  { from, to, status = 308, force = false }: RedirectRule,
  table: ReadonlyMap<string, Entry>,
): RedirectPattern {
  const found = isRewrite({ status }) ? table.get(encodeWrittenPath(to)) : undefined
  return {
    form: parsePathPattern(from),
    image: imageOf(to),
    from,
    to,
    status,
    force,
    target: found?.kind === 'resource' ? found : undefined,
  }
}

/** Whether a rule sends a file of the build in the place of its paths, and not the client elsewhere. */
function isRewrite({ status }: { readonly status: number }): boolean {
  return status === 200 || status === 404
}

/** What a rule makes of paths; `undefined` for other hosts, and where `:splat` is not all of the end. */
function imageOf(to: string): PathPattern | undefined {
  const written = to
    .replace(/[?#].*$/s, '')
    .replaceAll('*', '%2A')
    .replace(/\/:splat$/, '/*')
  return written.startsWith('/') && !written.includes(':splat') ? parsePathPattern(written) : undefined
}

/** A `/*` at the end matches what stands before its slash, too. */
function match(pattern: PathPattern, path: string): ReadonlyMap<string, string> | undefined {
  return matchPath(pattern, path) ?? (pattern.at(-2) === '*' ? matchPath(pattern, `${path}/`) : undefined)
}

/**
 * Puts values into their places. They are percent-encoded as parts of a path, which cannot end it; a query reads `&`,
 * `=` and `+` of its own, so there each is encoded as one value, and in a fragment too, but for its slashes.
 */
function fill(to: string, variables: ReadonlyMap<string, string>): string {
  const [, place = '', query = '', fragment = ''] = /^([^?#]*)([^#]*)(.*)$/s.exec(to) ?? []
  return [
    fillPart(place, variables),
    fillPart(query, variables, inQuery),
    fillPart(fragment, variables, inFragment),
  ].join('')
}

/** What a path may hold and these read as more than a value; of escapes the percent sign stays. */
const inQuery = /[^\w.~!'()*%-]/g
const inFragment = /[^\w.~!'()*%/-]/g

function fillPart(part: string, variables: ReadonlyMap<string, string>, escaped?: RegExp): string {
  return part.replaceAll(/:([A-Za-z]\w*)/g, (placeholder, name: string) => {
    const value = variables.get(name) ?? (name === 'splat' ? variables.get('*') : undefined) ?? placeholder
    return escaped === undefined || value === placeholder
      ? value
      : value.replaceAll(escaped, encodeURIComponent)
  })
}

/**
 * Whether a redirect leads to the very path, or from a path that it made itself to a longer one of that
 * kind (`/* → /new/:splat` for a page that is not there under `/new/` either).
 */
function neverEnds({ form, image }: RedirectPattern, path: string, location: string): boolean {
  const next = pathWithin(location)
  if (next === undefined || next === path) return next === path
  const isOwn = image !== undefined && match(image, path) !== undefined
  return next.length > path.length && isOwn && match(form, next) !== undefined
}

interface RedirectWays {
  readonly all: readonly RedirectPattern[]
  /** Those of them that were found to be endless, and do not count. */
  readonly endless: ReadonlySet<RedirectPattern>
  readonly table: ReadonlyMap<string, Entry>
}

/** Whether a rule of one path comes back to it. Of rules for many paths `neverEnds` takes care. */
function leadsBack({ form, to }: RedirectPattern, { all, endless, table }: RedirectWays): boolean {
  const [path, variable] = form
  if (path === undefined || variable !== undefined) return false
  let place = pathWithin(to)
  for (let count = 1; count < mostRedirects && place !== undefined; count += 1) {
    if (place === path) return true
    const entry = table.get(place)
    const patterns = entry === undefined ? all : forcedRedirects(all)
    const found = matchRedirect(patterns, place, endless) ?? entry
    place =
      found !== undefined && 'location' in found && !isRewrite(found) ? pathWithin(found.location) : undefined
  }
  return false
}

/** The path that a location names on this host, in the form that keys the table. */
function pathWithin(location: string): string | undefined {
  if (!location.startsWith('/')) return undefined
  // A location may have a fragment, the request that follows it has none.
  const parsed = parseRequestPath(location.replace(/#.*/s, ''))
  return typeof parsed === 'string' ? undefined : parsed.path
}
