import type { Fallback } from '@serve-dist/manifest'
import { type CodingWeights, codingWeights } from '../protocol/accept-encoding.ts'
import {
  badRequest,
  methodNotAllowed,
  notAcceptable,
  notFound,
  optionsAnswer,
  partialContent,
  preconditionFailed,
  rangeNotSatisfiable,
  redirectTo,
  varyingByNavigation,
} from './answers.ts'
import { type ByteRange, parseByteRange } from '../protocol/byte-range.ts'
import { evaluatePreconditions, ifRangeHolds } from './evaluate-preconditions.ts'
import { isNavigation } from '../protocol/is-navigation.ts'
import { forcedRedirects, matchRedirect, type RedirectMatch } from './redirects.ts'
import { notFoundAnswer, notModifiedAnswer, okAnswer } from './representation-answers.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import { parseRequestPath, type RequestPath } from '../protocol/request-path.ts'
import type { Answer, Representation, Resource, Site } from './site.ts'

/**
 * Decides the answer to a request: a pure function of the site and the request's fields, steps 2 to 7 of
 * `hosts/handler.ts`. `undefined` means that the path is unknown, and it is the host's to answer 404 or to ask
 * somebody else.
 *
 * @param fallback - `undefined` where unknown paths are looked for elsewhere before it is decided about them.
 */
export function decide(
  site: Site,
  request: RequestFields,
  fallback: Fallback | undefined,
): Answer | undefined {
  const { method, target } = request

  // 2. The path. A target that is already in the table's own form needs no parsing.
  let entry = site.table.get(target)
  let query = ''
  if (entry === undefined) {
    const parsed = parseRequestPath(target)
    if (parsed === 'malformed') return badRequest
    // RFC 9110 §9.3.7: `*` asks about the server as a whole.
    if (parsed === 'unclean') return method === 'OPTIONS' && target === '*' ? optionsAnswer() : undefined
    entry = site.table.get(parsed.path)
    query = parsed.query
    if (entry === undefined) return decideUnknown(site, request, parsed, fallback)
  }

  // A path that is as if it were unknown, but for its page.
  if (entry.kind === 'missing')
    return isGetOrHead(request) ? (notFoundPage(entry.page, request) ?? notFound) : undefined
  if (entry.kind === 'resource') return decideResource(entry, request)
  return isGetOrHead(request) ? redirectTo(entry, query) : decideOtherMethod(method)
}

/** Whether a host answers everything itself, or others stand behind it. */
export type HostRole = 'standalone' | 'middleware'

/**
 * What a navigation to an unknown path gets: what the host's options say, else what the site's rules say, else
 * what the build has, where nobody stands behind: a 404 page, or the page of a single-page application.
 */
export function fallbackFor(site: Site, role: HostRole, chosen: Fallback | undefined): Fallback {
  const said = chosen ?? site.fallback
  if (said !== undefined || role === 'middleware') return said ?? 'none'
  if (site.notFound !== undefined) return '404'
  return site.appType === 'spa' || site.singlePage !== undefined ? 'spa' : 'none'
}

/** The answer of a resource, GET and HEAD by the steps of RFC 9110 §13.2.2. */
export function decideResource(resource: Resource, request: RequestFields): Answer {
  // 4. The method.
  if (!isGetOrHead(request)) return decideOtherMethod(request.method, resource)

  // 5. The representation. A range is one of the identity, so that it never meets a coding.
  const weights = codingWeights(request.acceptEncoding)
  const whole = selectRepresentation(resource, weights)
  const range = weights.identity > 0 ? rangeOf(resource, request, whole) : undefined
  const plain = range === undefined ? whole : resource.identity
  const selected =
    request.availableDictionary === undefined ? plain : (selectDelta(resource, request, plain) ?? plain)
  if (selected === undefined) return notAcceptable(resource)

  // 6. The preconditions.
  const status = evaluatePreconditions(request, resource, selected)
  if (status === 304) return notModifiedAnswer(selected, resource)
  if (status === 412) return preconditionFailed(resource)

  // 7. The range.
  if (range === 'unsatisfiable') return rangeNotSatisfiable(resource)
  if (range !== undefined) return partialContent(resource, range)

  return okAnswer(selected, resource)
}

/**
 * The representation that the client wants most, the server's order deciding among equals; `undefined`
 * when none is acceptable (406).
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
 * The delta from the one dictionary that a request offers (RFC 9842 §2.2), where it is smaller than what is sent without;
 * whatever else the field says is as if it were not there.
 */
export function selectDelta(
  { deltas, overrides }: Resource,
  request: RequestFields,
  plain: Representation | undefined,
): Representation | undefined {
  const { availableDictionary, range, acceptEncoding } = request
  if (deltas === undefined || availableDictionary === undefined || range !== undefined) return undefined
  const representations = deltas.byDictionary.get(availableDictionary) ?? []
  const delta = selectRepresentation({ representations }, codingWeights(acceptEncoding))
  if (delta === undefined || (plain !== undefined && delta.bytes.size >= plain.bytes.size)) return undefined
  return isReadable(request, overrides.get('access-control-allow-origin')?.value) ? delta : undefined
}

/**
 * Whether who asks may read the answer: the size of a delta would tell others something of it (RFC 9842 §9.3.3).
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

/** The range of the identity that a request asks for, where it counts; `whole` is what is sent without it. */
export function rangeOf(
  resource: Resource,
  request: RequestFields,
  whole: Representation | undefined,
): ByteRange | 'unsatisfiable' | undefined {
  // RFC 9110 §14.2: a Range field means something to GET alone.
  if (request.range === undefined || request.method !== 'GET') return undefined
  if (!ifRangeHolds(request.ifRange, resource, whole)) return undefined
  return parseByteRange(request.range, resource.identity.bytes.size)
}

/** 3. A path that the table does not have: a redirect, a page in its place, or nothing of ours. */
function decideUnknown(
  site: Site,
  request: RequestFields,
  { path, query }: RequestPath,
  fallback: Fallback | undefined,
): Answer | undefined {
  if (!isGetOrHead(request)) {
    const match = matchRule(site, path, fallback)
    // A page in the place of what is not there makes no path known: navigations alone get it.
    const isKnown = match !== undefined && match.status !== 404 && match.target?.isPage !== true
    return isKnown ? decideOtherMethod(request.method, match.target) : undefined
  }
  const standIn = chooseStandIn(site, { path, fallback })
  if (standIn === undefined || (standIn.isForNavigations && !isNavigation(request))) return undefined
  if (standIn.target === undefined) return redirectTo(standIn, query)
  const answer =
    standIn.status === 404 ? notFoundPage(standIn.target, request) : decideResource(standIn.target, request)
  return answer !== undefined && standIn.isForNavigations ? varyingByNavigation(answer) : answer
}

/**
 * The 404 of a path that `decide` answers nothing for, where no other host is asked. Its `Vary` says where a navigation
 * would have got a page: a cache must keep the two apart.
 */
export function decideNotFound(site: Site, request: RequestFields, fallback: Fallback | undefined): Answer {
  const parsed = isGetOrHead(request) ? parseRequestPath(request.target) : 'unclean'
  if (typeof parsed === 'string') return notFound
  const standIn = chooseStandIn(site, { path: parsed.path, fallback })
  return standIn?.isForNavigations === true ? varyingByNavigation(notFound) : notFound
}

/** The rule for a path that the table does not have; one without force yields to a file on the disk. */
export function matchRule(
  site: Site,
  path: string,
  fallback: Fallback | undefined,
): RedirectMatch | undefined {
  const rules = fallback === undefined ? forcedRedirects(site.redirects) : site.redirects
  return matchRedirect(rules, path)
}

/** What stands in for a path that is unknown. */
export interface StandIn extends RedirectMatch {
  /** Whether other requests get none of it: an HTML page never stands in for a script or an image. */
  readonly isForNavigations: boolean
}

/** Chooses what GET and HEAD of an unknown path get: what the rule says, the build's 404 page, or the fallback. */
export function chooseStandIn(
  site: Site,
  { path, fallback }: { readonly path: string; readonly fallback: Fallback | undefined },
): StandIn | undefined {
  const match = matchRule(site, path, fallback)
  if (match !== undefined && (match.status === 404 || match.target?.isPage !== true))
    return { ...match, isForNavigations: false }

  const isForNavigations = true
  // Nor does a page stand in for a hashed asset, unless a rule is about these.
  const mayGetPage = !isAsset(site, path)
  if (match !== undefined && (mayGetPage || isAsset(site, match.rule?.form[0])))
    return { ...match, isForNavigations }

  if (fallback === undefined || fallback === 'none' || !path.startsWith(site.base)) return undefined
  const isSinglePage = fallback === 'spa' && mayGetPage
  if (isSinglePage && site.singlePage !== undefined) {
    return { status: 200, location: '200.html', target: site.singlePage, isForNavigations }
  }
  if (site.notFound !== undefined) {
    return { status: 404, location: '404.html', target: site.notFound, isForNavigations }
  }
  return isSinglePage && site.index !== undefined
    ? { status: 200, location: 'index.html', target: site.index, isForNavigations }
    : undefined
}

function isAsset({ assetsPath }: Site, path: string | undefined): boolean {
  return assetsPath !== undefined && path?.startsWith(assetsPath) === true
}

/** A method other than GET and HEAD, of a path that is known. */
function decideOtherMethod(method: string, resource?: Resource): Answer {
  return method === 'OPTIONS' ? optionsAnswer(resource) : methodNotAllowed
}

function isGetOrHead({ method }: RequestFields): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** The page of a 404; without an acceptable coding the plain one does. */
function notFoundPage(page: Resource, request: RequestFields): Answer | undefined {
  const selected = selectRepresentation(page, codingWeights(request.acceptEncoding))
  return selected && notFoundAnswer(selected, page)
}
