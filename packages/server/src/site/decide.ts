import type { Fallback } from '@serve-dist/manifest'
import { type CodingWeights, codingWeights } from '../protocol/accept-encoding.ts'
import {
  badRequest,
  bareUnavailable,
  methodNotAllowed,
  notAcceptable,
  notFound,
  optionsAnswer,
  partialContent,
  preconditionFailed,
  rangeNotSatisfiable,
  redirectTo,
  withNavigationVary,
  traceNotAllowed,
} from './answers.ts'
import { type ByteRange, parseByteRange } from '../protocol/byte-range.ts'
import type { DecisionTrace } from './decision-trace.ts'
import { evaluatePreconditions, ifRangeHolds } from './evaluate-preconditions.ts'
import { isNavigation } from '../protocol/is-navigation.ts'
import { forwardedTarget, hasDotSegment } from './proxy-target.ts'
import { forcedRedirects, isProxying, matchRedirect, type RedirectMatch } from './redirects.ts'
import { isSkewMiss } from './missing-asset.ts'
import { notFoundAnswer, notModifiedAnswer, okAnswer, unavailableAnswer } from './representation-answers.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import { parseRequestPath, type RequestPath } from '../protocol/request-path.ts'
import type { Answer, ProxyPattern, Representation, Resource, Site } from './site.ts'

/**
 * Decides the answer to a request (steps 2 to 7 of `hosts/handler.ts`). It is a pure function of the site
 * and the fields of the request. Returns `undefined` for an unknown path: the host answers 404 or calls the
 * next handler.
 *
 * @param trace - receives the reasons. Hosts omit it because each reason costs an allocation.
 */
export function decide(
  site: Site,
  request: RequestFields,
  fallback: UnknownPathFallback,
  trace?: DecisionTrace,
): Answer | undefined {
  const { method, target } = request

  // 2. The path. A target that is a key of the table needs no parsing.
  let path = target
  let query = ''
  let entry = site.table.get(target)
  if (entry === undefined) {
    const parsed = parseRequestPath(target)
    if (parsed === 'malformed') {
      trace?.({ code: 'malformed-target' })
      return badRequest
    }
    if (parsed === 'unclean') {
      const sent = target.replace(/\?.*$/s, '')
      const match = matchRule(site, sent, undefined)
      if (match?.status === 503) return decideUnavailable(site, { request, path: sent, match }, trace)
      // RFC 9110 §9.3.7: `*` refers to the server as a whole.
      const isServerWide = method === 'OPTIONS' && target === '*'
      trace?.({ code: isServerWide ? 'asterisk-target' : 'unclean-path' })
      return isServerWide ? optionsAnswer() : decideUnclean(site, request, fallback, trace)
    }
    path = parsed.path
    query = parsed.query
    entry = site.table.get(path)
    if (entry === undefined) return decideUnknown(site, request, { parsed, fallback }, trace)
    const forced =
      query === '' || entry.kind === 'hidden' ? undefined : matchRule(site, path, undefined, query)
    if (forced?.query !== undefined) {
      const answer = decideUnknown(site, request, { parsed, fallback: undefined }, undefined)
      if (answer !== undefined) {
        trace?.({ code: 'redirect-rule', match: forced })
        return answer
      }
    }
  }
  trace?.({ code: 'known-path', path, entry })

  if (entry.kind === 'proxied') return forwardTo(entry.rule, { path, request }, trace)
  if (entry.kind === 'hidden') {
    if (entry.status === 503) return unavailable(entry.page, { request, path }, trace)
    return isGetOrHead(request) ? (notFoundPage(entry.page, request, trace) ?? notFound) : undefined
  }
  if (entry.kind === 'resource') return decideResource(entry, request, trace)
  return isGetOrHead(request) ? redirectTo(entry, query) : decideOtherMethod(method, undefined, trace)
}

/**
 * The answer to a navigation to an unknown path. `undefined`: the host first looks for all unknown paths
 * elsewhere. `application`: an application answers before pages of the build, except those of forced rules.
 */
export type UnknownPathFallback = Fallback | 'application' | undefined

/**
 * Whether a host answers every request itself or passes unknown paths on. The command with an application has
 * two hosts: one before the application, and one for the requests that the application passes on.
 */
export type HostRole = 'standalone' | 'middleware' | 'before-application' | 'after-application'

/**
 * Returns what a navigation to an unknown path gets. The options of the host come first, then the rules of
 * the site. Without both, a standalone host uses the 404 page or the page of a single-page application.
 */
export function fallbackFor(
  site: Site,
  role: HostRole,
  chosen: Fallback | undefined,
): Fallback | 'application' {
  if (role === 'before-application') return 'application'
  const said = chosen ?? site.fallback
  if (said !== undefined || role === 'middleware') return said ?? 'none'
  if (role === 'after-application') return '404'
  if (site.notFound !== undefined) return '404'
  return site.appType === 'spa' || site.singlePage !== undefined ? 'spa' : 'none'
}

/** Answers a request for a resource. GET and HEAD follow the steps of RFC 9110 §13.2.2. */
export function decideResource(resource: Resource, request: RequestFields, trace?: DecisionTrace): Answer {
  // 4. The method.
  if (!isGetOrHead(request)) return decideOtherMethod(request.method, resource, trace)
  if (trace !== undefined && request.method === 'HEAD') trace({ code: 'head' })

  // 5. The representation. Ranges always refer to the identity representation.
  const weights = codingWeights(request.acceptEncoding)
  const whole = selectRepresentation(resource, weights)
  trace?.({ code: 'representation', resource, selected: whole })
  const range = weights.identity > 0 ? rangeOf(resource, request, whole, trace) : undefined
  if (trace !== undefined && weights.identity === 0 && request.range !== undefined) {
    trace({ code: 'range-without-identity' })
  }
  const plain = range === undefined ? whole : resource.identity
  const selected =
    request.availableDictionary === undefined
      ? plain
      : (selectDelta(resource, request, plain, trace) ?? plain)
  if (selected === undefined) return notAcceptable(resource)

  // 6. The preconditions.
  const status = evaluatePreconditions(request, resource, selected, trace)
  if (status === 412) return preconditionFailed(resource)
  if (status === 304) {
    trace?.({ code: 'sent', resource, representation: selected })
    return notModifiedAnswer(selected, resource)
  }

  // 7. The range.
  if (range === 'unsatisfiable') return rangeNotSatisfiable(resource)
  trace?.({ code: 'sent', resource, representation: selected, range })
  return range === undefined ? okAnswer(selected, resource) : partialContent(resource, range)
}

/**
 * Returns the representation with the highest weight. Among equal weights the server's order decides.
 * Returns `undefined` if none is acceptable (406).
 */
export function selectRepresentation(
  { representations }: { readonly representations: readonly Representation[] },
  weights: CodingWeights,
): Representation | undefined {
  let selected: Representation | undefined
  let highest = 0
  for (const representation of representations) {
    const weight = weights[representation.coding]
    if (weight > highest) {
      selected = representation
      highest = weight
    }
  }
  return selected
}

/**
 * Returns the delta for the dictionary that the client offers (RFC 9842 §2.2), if it is smaller than
 * `plain`. `decide` ignores invalid values of the field.
 */
function selectDelta(
  { deltas, overrides }: Resource,
  request: RequestFields,
  plain: Representation | undefined,
  trace?: DecisionTrace,
): Representation | undefined {
  const { availableDictionary, range, acceptEncoding } = request
  if (deltas === undefined || availableDictionary === undefined) return trace?.({ code: 'no-deltas' })
  if (range !== undefined) return trace?.({ code: 'delta-beside-range' })
  const representations = deltas.byDictionary.get(availableDictionary)
  if (representations === undefined) return trace?.({ code: 'unknown-dictionary' })
  const delta = selectRepresentation({ representations }, codingWeights(acceptEncoding))
  if (delta === undefined) return trace?.({ code: 'delta-coding-not-accepted' })
  if (plain !== undefined && delta.bytes.size >= plain.bytes.size)
    return trace?.({ code: 'delta-not-smaller' })
  if (!isReadable(request, overrides.get('access-control-allow-origin')?.value)) {
    return trace?.({ code: 'delta-not-readable' })
  }
  trace?.({ code: 'delta', delta })
  return delta
}

/**
 * Returns whether the requesting page may read the answer. The size of a delta would leak information to
 * other origins (RFC 9842 §9.3.3).
 *
 * @param allowed - the `Access-Control-Allow-Origin` of the answer.
 */
function isReadable(
  { secFetchSite, secFetchMode, origin }: RequestFields,
  allowed: string | null | undefined,
): boolean {
  if (secFetchSite === undefined || secFetchSite === 'same-origin') return true
  if (secFetchMode !== 'cors') {
    return secFetchMode === undefined || secFetchMode === 'navigate' || secFetchMode === 'same-origin'
  }
  return origin !== undefined && (allowed === '*' || allowed === origin)
}

/**
 * Returns the requested range of the identity, if it applies. `whole` is the representation without a
 * range.
 */
function rangeOf(
  resource: Resource,
  request: RequestFields,
  whole: Representation | undefined,
  trace?: DecisionTrace,
): ByteRange | 'unsatisfiable' | undefined {
  if (request.range === undefined) return undefined
  // RFC 9110 §14.2: Range applies only to GET.
  if (request.method !== 'GET') return trace?.({ code: 'range-not-for-head' })
  if (!ifRangeHolds(request.ifRange, resource, whole)) return trace?.({ code: 'if-range-fails' })
  const range = parseByteRange(request.range, resource.identity.bytes.size)
  trace?.(range === undefined ? { code: 'range-ignored' } : { code: 'range', range, resource })
  return range
}

/**
 * Forwards a request. Refuses dot segments, so that no request reaches a target by the prefix of another rule, and
 * TRACE.
 */
function forwardTo(
  rule: ProxyPattern,
  { path, request }: { readonly path: string; readonly request: RequestFields },
  trace: DecisionTrace | undefined,
): Answer {
  if (request.method === 'TRACE') {
    trace?.({ code: 'proxied-trace', rule })
    return traceNotAllowed
  }
  if (hasDotSegment(path)) {
    trace?.({ code: 'proxied-dot-segment', rule })
    return badRequest
  }
  const target = forwardedTarget(rule.form, rule.proxy, { path, sent: request.target })
  trace?.({ code: 'proxied', rule, target })
  return { status: 200, fields: [], content: { kind: 'proxied', rule, target } }
}

/** Only targets of rules get paths with empty segments, dot segments and backslashes. */
function decideUnclean(
  site: Site,
  request: RequestFields,
  fallback: UnknownPathFallback,
  trace: DecisionTrace | undefined,
): Answer | undefined {
  const parsed = parseRequestPath(request.target, true)
  if (typeof parsed === 'string') return undefined
  const { path, query } = parsed
  const rule = matchRule(site, path, fallback, query)?.rule
  return isProxying(rule) && mayProxy(site, path, rule)
    ? forwardTo(rule, { path, request }, trace)
    : undefined
}

/** Missing hashed assets are a 404, unless a rule has `force` or names the assets. */
function mayProxy(site: Site, path: string, rule: ProxyPattern): boolean {
  return rule.force || !isAsset(site, path) || isAsset(site, rule.form[0])
}

interface UnknownPath {
  readonly parsed: RequestPath
  readonly fallback: UnknownPathFallback
}

/** 3. A path that the table does not contain: a redirect, the page of a rule, or the fallback. */
function decideUnknown(
  site: Site,
  request: RequestFields,
  { parsed: { path, query }, fallback }: UnknownPath,
  trace: DecisionTrace | undefined,
): Answer | undefined {
  trace?.({ code: 'unknown-path', path })
  const match = matchRule(site, path, fallback, query)
  if (match?.status === 503 && (fallback !== 'application' || match.rule?.force === true))
    return decideUnavailable(site, { request, path, match }, trace)
  if (isProxying(match?.rule)) {
    if (mayProxy(site, path, match.rule)) return forwardTo(match.rule, { path, request }, trace)
    return trace?.({ code: 'rule-not-for-assets', match })
  }
  if (!isGetOrHead(request)) {
    // A rule with a page answers only navigations. It does not make the path known.
    if (match === undefined || match.status === 404 || match.target?.isPage === true) {
      return trace?.({ code: 'unknown-path-method' })
    }
    trace?.({ code: 'rule-makes-path-known', match })
    return decideOtherMethod(request.method, match.target, trace)
  }
  const found = fallbackAfter(match, site, { path, fallback }, trace)
  if (found === undefined) return undefined
  if (found.isForNavigations && !isNavigation(request, path))
    return trace?.({ code: 'navigations-only', match: found })
  trace?.({ code: found.target === undefined ? 'redirect-rule' : 'fallback', match: found })
  if (found.target === undefined) return redirectTo(found, found.query ?? query)
  const answer =
    found.status === 404
      ? notFoundPage(found.target, request, trace)
      : decideResource(found.target, request, trace)
  return answer !== undefined && found.isForNavigations ? withNavigationVary(answer) : answer
}

/**
 * Returns the 404 for a path that `decide` does not answer. If a navigation would get a page instead,
 * `Vary` makes caches keep the two apart.
 */
export function decideNotFound(site: Site, request: RequestFields, fallback: UnknownPathFallback): Answer {
  const parsed = isGetOrHead(request) ? parseRequestPath(request.target) : 'unclean'
  if (typeof parsed === 'string') return notFound
  const match = chooseFallback(site, { ...parsed, fallback })
  return match?.isForNavigations === true ? withNavigationVary(notFound) : notFound
}

/**
 * Returns the rule for an unknown path. Rules without `force` do not apply before files on the disk are
 * checked.
 */
export function matchRule(
  site: Site,
  path: string,
  fallback: UnknownPathFallback,
  query = '',
): RedirectMatch | undefined {
  const rules = fallback === undefined ? forcedRedirects(site.redirects) : site.redirects
  return matchRedirect(rules, path, { query })
}

/** The rule or the page that answers an unknown path. */
export interface FallbackMatch extends RedirectMatch {
  /** Whether only navigations get it. An HTML page never answers a request for a script or an image. */
  readonly isForNavigations: boolean
}

/** Returns the answer to GET and HEAD of an unknown path: a rule, the 404 page or the fallback. */
export function chooseFallback(
  site: Site,
  { query, ...at }: FallbackPath & { readonly query?: string },
): FallbackMatch | undefined {
  return fallbackAfter(matchRule(site, at.path, at.fallback, query), site, at)
}

interface FallbackPath {
  /** Percent-encoded. */
  readonly path: string
  readonly fallback: UnknownPathFallback
}

/** @param match - the rule for the path, if there is one. */
function fallbackAfter(
  match: RedirectMatch | undefined,
  site: Site,
  { path, fallback }: FallbackPath,
  trace?: DecisionTrace,
): FallbackMatch | undefined {
  if (match !== undefined && (match.status === 404 || match.target?.isPage !== true))
    return { ...match, isForNavigations: false }

  if (fallback === 'application' && match?.rule?.force !== true) return undefined

  const isForNavigations = true
  // No page answers for a hashed asset, unless a rule names the assets.
  const mayGetPage = !isAsset(site, path)
  if (match !== undefined && (mayGetPage || isAsset(site, match.rule?.form[0])))
    return { ...match, isForNavigations }
  if (match !== undefined) trace?.({ code: 'rule-not-for-assets', match })

  if (fallback === undefined || fallback === 'none' || fallback === 'application')
    return trace?.({ code: 'no-fallback' })
  if (!path.startsWith(site.base)) return trace?.({ code: 'outside-base' })
  const isSinglePage = fallback === 'spa' && mayGetPage
  if (isSinglePage && site.singlePage !== undefined) {
    return { status: 200, location: '200.html', target: site.singlePage, isForNavigations }
  }
  if (site.notFound !== undefined) {
    return { status: 404, location: '404.html', target: site.notFound, isForNavigations }
  }
  if (isSinglePage && site.index !== undefined) {
    return { status: 200, location: 'index.html', target: site.index, isForNavigations }
  }
  return trace?.({ code: mayGetPage ? 'no-fallback-page' : 'no-page-for-assets' })
}

function isAsset({ assetsPath }: Site, path: string | undefined): boolean {
  return assetsPath !== undefined && path?.startsWith(assetsPath) === true
}

/** Answers methods other than GET and HEAD for a known path. */
function decideOtherMethod(
  method: string,
  resource: Resource | undefined,
  trace: DecisionTrace | undefined,
): Answer {
  trace?.({ code: 'other-method', resource })
  return method === 'OPTIONS' ? optionsAnswer(resource) : methodNotAllowed
}

function isGetOrHead({ method }: RequestFields): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Returns a page as the body of an error, or `undefined` if the client accepts none of its codings. */
export function errorPage(page: Resource, request: RequestFields, status: number): Answer | undefined {
  const answer = notFoundPage(page, request)
  return answer && { ...answer, status }
}

interface RequestedPath {
  readonly request: RequestFields
  /** Percent-encoded. */
  readonly path: string
}

/** A rule with status 503 for a path that the table does not contain. An unknown hashed asset stays a 404. */
function decideUnavailable(
  site: Site,
  { match, ...requested }: RequestedPath & { readonly match: RedirectMatch },
  trace?: DecisionTrace,
): Answer {
  if (isSkewMiss(site, requested.request)) return notFound
  trace?.({ code: 'unavailable', match })
  return unavailable(match.target, requested, trace)
}

/** Returns the 503 of a maintenance: only navigations get its page. */
function unavailable(
  page: Resource | undefined,
  { request, path }: RequestedPath,
  trace?: DecisionTrace,
): Answer {
  const weights = codingWeights(request.acceptEncoding)
  const selected =
    page === undefined || !isNavigation(request, path) ? undefined : selectRepresentation(page, weights)
  if (page === undefined || selected === undefined) return bareUnavailable(page)
  trace?.({ code: 'sent', resource: page, representation: selected })
  return unavailableAnswer(selected, page)
}

/** Returns the page of a 404, or `undefined` if the client accepts none of its codings. */
function notFoundPage(
  page: Resource | undefined,
  request: RequestFields,
  trace?: DecisionTrace,
): Answer | undefined {
  if (page === undefined) return undefined
  const selected = selectRepresentation(page, codingWeights(request.acceptEncoding))
  trace?.({ code: 'representation', resource: page, selected })
  if (selected === undefined) return undefined
  trace?.({ code: 'sent', resource: page, representation: selected })
  return notFoundAnswer(selected, page)
}
