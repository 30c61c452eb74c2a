import type { RedirectRule, RedirectStatus } from '@serve-dist/manifest'
import { parseRequestPath } from '../protocol/request-path.ts'
import { encodeWrittenPath, matchPath, parsePathPattern, type PathPattern } from './path-pattern.ts'
import { matchQuery } from './match-query.ts'
import { memoizeWeakly } from './memoize-weakly.ts'
import { findPlaces, indexPatterns } from './pattern-index.ts'
import { proxyTargetOf, writtenAddress } from './proxy-target.ts'
import type { Entry, ProxyPattern, RedirectPattern, Resource, Site } from './site.ts'

/** The result of the first rule that matches a path. */
export interface RedirectMatch {
  readonly status: RedirectStatus
  readonly location: string
  readonly target: Resource | undefined
  /** The query without the parameters that the rule names; absent if it names none. */
  readonly query?: string
  /** Absent for a fallback. */
  readonly rule?: RedirectPattern
}

/** The usable rules, and one line for each unusable rule. */
export interface CompiledRedirects {
  readonly patterns: readonly RedirectPattern[]
  readonly problems: readonly string[]
}

/** The number of redirects after which browsers give up (Fetch §4.4). */
const mostRedirects = 20

/**
 * Compiles rules to patterns. It skips rules whose file is not in the build. It also skips rules of a
 * single path that redirect to the same path, directly (`/a` to `/a?b`) or through other redirects. Without
 * such a rule, the other redirects may end.
 *
 * @param table - the table before forced rules are applied.
 */
export function compileRedirects(
  rules: readonly RedirectRule[],
  table: ReadonlyMap<string, Entry>,
): CompiledRedirects {
  const problems: string[] = []
  const leaveOut = ({ from }: Pick<RedirectRule, 'from'>, reason: string): false => {
    problems.push(`the redirect of ${from} is ignored: ${reason}`)
    return false
  }
  const hasFile = (pattern: RedirectPattern): boolean => {
    const { from, to, status, target } = pattern
    if (!isRewrite(pattern) || target !== undefined || isProxying(pattern)) return true
    if (status !== 503) return leaveOut(pattern, `the build has no file ${to} for status ${status}`)
    problems.push(`the rule of ${from} has status 503, but no page: the build has no file ${to}`)
    return true
  }
  const all = rules.map((rule) => toRedirectPattern(rule, table)).filter(hasFile)
  const endless = new Set<RedirectPattern>()
  for (const pattern of all) {
    if (isRewrite(pattern) || !leadsBack(pattern, { all, endless, table })) continue
    leaveOut(pattern, `${pattern.to} redirects back to it in an endless loop`)
    endless.add(pattern)
  }
  for (const { from, form, proxy } of all) {
    const path = proxy?.path
    if (path !== undefined && form.includes('*') && !path.includes(':splat'))
      problems.push(
        `the rule ${from} forwards all requests to the path ${path}. Append :splat to use the rest of the path, or remove the path to keep that of the request.`,
      )
  }
  const patterns = endless.size === 0 ? all : all.filter((pattern) => !endless.has(pattern))
  problems.push(...describeUnmatched(patterns, table))
  return { patterns, problems }
}

/** Describes the rules that no request can match. */
function* describeUnmatched(
  all: readonly RedirectPattern[],
  table: ReadonlyMap<string, Entry>,
): Generator<string> {
  const covering = new Map<string, RedirectPattern>()
  const earlier = new Set<RedirectPattern>()
  for (const rule of all) {
    const [start = '', variable] = rule.form
    const entry = variable === undefined ? table.get(start) : undefined
    const isOfBuild = entry !== undefined && entry.kind !== 'hidden'
    const first =
      variable === undefined
        ? matchRedirect(isOfBuild ? forcedRedirects(all) : all, start)?.rule
        : (covering.get(rule.from) ?? findProxyOf(rule, covering))
    // Maintenance ends, and the application may precede rules without force.
    const isCovered =
      first !== undefined && earlier.has(first) && first.status !== 503 && (first.force || !rule.force)
    if (isOfBuild && !rule.force)
      yield `the rule ${rule.from} never matches: the build has this path. Add force: true to override it`
    else if (isCovered)
      yield `the rule ${rule.from} never matches: the rule ${first.from} before it matches all of its paths`
    earlier.add(rule)
    if (rule.query === undefined && !covering.has(rule.from)) covering.set(rule.from, rule)
  }
}

/** Returns the rule that proxies a folder of all paths of a rule. */
function findProxyOf(
  { form: [start = ''] }: RedirectPattern,
  covering: ReadonlyMap<string, RedirectPattern>,
): RedirectPattern | undefined {
  const parts = start.split('/')
  return parts
    .map((_, index) => covering.get(`${parts.slice(0, index).join('/')}/*`))
    .find((found) => isProxying(found))
}

/** Returns whether a rule forwards requests. */
export function isProxying(rule: RedirectPattern | undefined): rule is ProxyPattern {
  return rule?.proxy !== undefined
}

/** Returns the first rule of a site, or of its parts, that forwards requests. */
export function findProxying({
  redirects,
  parts = [],
}: Pick<Site, 'redirects' | 'parts'>): ProxyPattern | undefined {
  return [...redirects, ...parts.flatMap((part) => part.redirects)].find(isProxying)
}

/** The query of a request, and patterns to skip. */
export interface RedirectContext {
  /** With its question mark, or `''`. Without it, patterns with parameters do not match. */
  readonly query?: string
  readonly leftOut?: ReadonlySet<RedirectPattern>
}

/** Returns the first pattern that matches a percent-encoded path, with its variables filled in. */
export function matchRedirect(
  patterns: readonly RedirectPattern[],
  path: string,
  { query = '', leftOut }: RedirectContext = {},
): RedirectMatch | undefined {
  for (const place of findPlaces(indexOf(patterns), path)) {
    const pattern = patterns[place]
    const variables = pattern === undefined ? undefined : match(pattern.form, path)
    if (pattern === undefined || variables === undefined || leftOut?.has(pattern) === true) continue
    const { status, target } = pattern
    const parameters = pattern.query && matchQuery(pattern.query, query)
    if (pattern.query !== undefined && parameters === undefined) continue
    if (isProxying(pattern)) return { status, location: pattern.to, target, rule: pattern }
    const location = fill(pattern.to, new Map([...variables, ...(parameters?.variables ?? [])]))
    // Text from the request path must not change the host of the location.
    if (location.startsWith('//') || location.startsWith('/\\')) continue
    if (!isRewrite(pattern) && neverEnds(pattern, path, location)) continue
    const rest = parameters && { query: parameters.rest }
    return { status, location, target, rule: pattern, ...rest }
  }
  return undefined
}

/** Returns the rules that apply even if the build has the path. The array is cached. */
export const forcedRedirects: (patterns: readonly RedirectPattern[]) => readonly RedirectPattern[] =
  memoizeWeakly((patterns) => patterns.filter(({ force }) => force))

/** Returns whether the answer to a path of the build depends on the query. */
export function dependsOnQuery(patterns: readonly RedirectPattern[], path: string): boolean {
  return forcedByQuery(patterns).some(({ form }) => match(form, path) !== undefined)
}

const forcedByQuery = memoizeWeakly((patterns: readonly RedirectPattern[]) =>
  patterns.filter(({ force, query }) => force && query !== undefined),
)

const indexOf = memoizeWeakly((patterns: readonly RedirectPattern[]) =>
  indexPatterns(patterns.map(({ form }) => form)),
)

function toRedirectPattern(rule: RedirectRule, table: ReadonlyMap<string, Entry>): RedirectPattern {
  const { from, query, status = 308, force = false } = rule
  const to = writtenAddress(rule.to)
  const found = isRewrite({ status }) ? table.get(encodeWrittenPath(to)) : undefined
  const proxy = proxyTargetOf(rule)
  return {
    form: parsePathPattern(from),
    ...(query !== undefined && { query: new Map(Object.entries(query)) }),
    image: imageOf(to),
    from,
    to,
    status,
    force,
    target: found?.kind === 'resource' ? found : undefined,
    ...(proxy !== undefined && { proxy }),
  }
}

/** Returns whether a rule serves a file of the build instead of redirecting. */
function isRewrite({ status }: { readonly status: number }): boolean {
  return status === 200 || status === 404 || status === 503
}

/**
 * Returns the pattern of the paths that a rule redirects to. Returns `undefined` for other hosts and if
 * `:splat` is not the whole last part.
 */
function imageOf(to: string): PathPattern | undefined {
  const written = to
    .replace(/[?#].*$/s, '')
    .replaceAll('*', '%2A')
    .replace(/\/:splat$/, '/*')
  return written.startsWith('/') && !written.includes(':splat') ? parsePathPattern(written) : undefined
}

/** `/*` at the end also matches the path before its slash. */
function match(pattern: PathPattern, path: string): ReadonlyMap<string, string> | undefined {
  return matchPath(pattern, path) ?? (pattern.at(-2) === '*' ? matchPath(pattern, `${path}/`) : undefined)
}

/**
 * Fills in the variables. Values are percent-encoded path text. In a query and a fragment, characters with
 * a special meaning there (`&`, `=`, `+`) are encoded as well. A fragment keeps its slashes.
 */
function fill(to: string, variables: ReadonlyMap<string, string>): string {
  const [, place = '', query = '', fragment = ''] = /^([^?#]*)([^#]*)(.*)$/s.exec(to) ?? []
  return [
    fillPart(place, variables),
    fillPart(query, variables, inQuery),
    fillPart(fragment, variables, inFragment),
  ].join('')
}

/** Characters that are valid in a path but special in a query or fragment. The percent sign of escapes stays. */
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
 * Returns whether a redirect leads to the same path or to an ever longer one. An example is `/* → /new/:splat`
 * for a page that does not exist below `/new/` either.
 */
function neverEnds({ form, image, query }: RedirectPattern, path: string, location: string): boolean {
  const next = pathWithin(location)
  if (query !== undefined) {
    const [, sent = ''] = /(\?[^#]*)/.exec(location) ?? []
    return next === path && matchQuery(query, sent) !== undefined
  }
  if (next === undefined || next === path) return next === path
  const isOwn = image !== undefined && match(image, path) !== undefined
  return next.length > path.length && isOwn && match(form, next) !== undefined
}

interface RedirectWays {
  readonly all: readonly RedirectPattern[]
  /** Endless patterns of `all`, which are skipped. */
  readonly endless: ReadonlySet<RedirectPattern>
  readonly table: ReadonlyMap<string, Entry>
}

/** Returns whether a rule of a single path leads back to it. `neverEnds` checks rules of many paths. */
function leadsBack({ form, query, to }: RedirectPattern, { all, endless, table }: RedirectWays): boolean {
  const [path, variable] = form
  if (path === undefined || variable !== undefined || query !== undefined) return false
  let place = pathWithin(to)
  for (let count = 1; count < mostRedirects && place !== undefined; count += 1) {
    if (place === path) return true
    const entry = table.get(place)
    const patterns = entry === undefined ? all : forcedRedirects(all)
    const found = matchRedirect(patterns, place, { leftOut: endless }) ?? entry
    place =
      found !== undefined && 'location' in found && !isRewrite(found) ? pathWithin(found.location) : undefined
  }
  return false
}

/** Returns the path of a location on this host, in the form of the table's keys. */
function pathWithin(location: string): string | undefined {
  if (!location.startsWith('/')) return undefined
  // Browsers do not send the fragment of a location.
  const parsed = parseRequestPath(location.replace(/#.*/s, ''))
  return typeof parsed === 'string' ? undefined : parsed.path
}
