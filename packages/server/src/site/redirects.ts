import type { RedirectRule, RedirectStatus } from '@serve-dist/manifest'
import { parseRequestPath } from '../protocol/request-path.ts'
import { encodeWrittenPath, matchPath, parsePathPattern, type PathPattern } from './path-pattern.ts'
import type { Entry, RedirectPattern, Resource } from './site.ts'

/** What a path got from the first rule that matches it. */
export interface RedirectMatch {
  readonly status: RedirectStatus
  readonly location: string
  readonly target: Resource | undefined
  /** What all paths of the rule begin with, percent-encoded; absent where no rule is meant, but a fallback. */
  readonly start?: string | undefined
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
  let patterns = rules.map((rule) => toRedirectPattern(rule, table)).filter(hasFile)
  for (const pattern of patterns) {
    if (isRewrite(pattern) || !leadsBack(pattern, patterns, table)) continue
    leaveOut(pattern, `${pattern.to} leads back to it, without an end`)
    patterns = patterns.filter((each) => each !== pattern)
  }
  return { patterns, problems }
}

/** The first pattern that matches a percent-encoded path, with its variables filled in. */
export function matchRedirect(patterns: readonly RedirectPattern[], path: string): RedirectMatch | undefined {
  for (const pattern of patterns) {
    const variables = match(pattern.form, path)
    if (variables === undefined) continue
    const { status, target } = pattern
    const location = fill(pattern.to, variables)
    // What a client put into the path must not make the location another host's.
    if (location.startsWith('//') || location.startsWith('/\\')) continue
    if (target === undefined && neverEnds(pattern, path, location)) continue
    return { status, location, target, start: pattern.form[0] }
  }
  return undefined
}

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

function fill(to: string, variables: ReadonlyMap<string, string>): string {
  return to.replaceAll(/:([A-Za-z]\w*)/g, (placeholder, name: string) => {
    return variables.get(name) ?? (name === 'splat' ? variables.get('*') : undefined) ?? placeholder
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

/** Whether a rule of one path comes back to it. Of rules for many paths `neverEnds` takes care. */
function leadsBack(
  pattern: RedirectPattern,
  patterns: readonly RedirectPattern[],
  table: ReadonlyMap<string, Entry>,
): boolean {
  const [path, variable] = pattern.form
  if (path === undefined || variable !== undefined) return false
  const forced = patterns.filter(({ force }) => force)
  let place = pathWithin(pattern.to)
  for (let count = 1; count < mostRedirects && place !== undefined; count += 1) {
    if (place === path) return true
    const entry = table.get(place)
    const found = matchRedirect(entry === undefined ? patterns : forced, place) ?? entry
    place =
      found !== undefined && 'location' in found && !isRewrite(found) ? pathWithin(found.location) : undefined
  }
  return false
}

/** The path that a location names on this host, in the form that keys the table. */
function pathWithin(location: string): string | undefined {
  if (!location.startsWith('/')) return undefined
  const parsed = parseRequestPath(location)
  return typeof parsed === 'string' ? undefined : parsed.path
}
