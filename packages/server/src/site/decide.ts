import { codingWeights } from '../protocol/coding-weights.ts'
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
} from './answers.ts'
import { type ByteRange, parseByteRange } from '../protocol/byte-range.ts'
import { evaluatePreconditions, ifRangeHolds } from './evaluate-preconditions.ts'
import { isNavigation } from '../protocol/is-navigation.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import { parseRequestPath, type RequestPath } from '../protocol/request-path.ts'
import { selectRepresentation } from './select-representation.ts'
import { matchRedirect } from './redirect-pattern.ts'
import type { Answer, Fallback, Representation, Resource, Site } from './site.ts'

/**
 * Decides the answer to a request: a pure function of the site and the request's fields. `undefined`
 * means that the path is unknown, and it is the host's to answer 404 or to ask somebody else.
 *
 * @param fallback - `undefined` where unknown paths are looked for elsewhere before it is decided about them.
 */
export function decide(
  site: Site,
  request: RequestFields,
  fallback: Fallback | undefined,
): Answer | undefined {
  const { method, target } = request

  // 1. The path. A target that is already in the table's own form needs no parsing.
  let entry = site.table.get(target)
  let query = ''
  if (entry === undefined) {
    const parsed = parseRequestPath(target)
    if (parsed === 'malformed') return badRequest
    // RFC 9110 §9.3.7: `*` asks about the server as a whole.
    if (parsed === 'unclean') return method === 'OPTIONS' && target === '*' ? optionsAnswer : undefined
    entry = site.table.get(parsed.path)
    query = parsed.query
    if (entry === undefined) return decideUnknown(site, request, parsed, fallback)
  }

  if (entry.kind === 'missing') return decideMissing(entry.page, request)

  // 2. The method.
  if (method !== 'GET' && method !== 'HEAD') {
    return decideOtherMethod(method, entry.kind === 'resource' ? entry.preflight : undefined)
  }

  return entry.kind === 'redirect' ? redirectTo(entry, query) : decideResource(entry, request)
}

/** A method other than GET and HEAD, of a path that is known. */
export function decideOtherMethod(method: string, preflight?: Answer): Answer {
  return method === 'OPTIONS' ? (preflight ?? optionsAnswer) : methodNotAllowed
}

/** GET or HEAD of a resource, by the steps of RFC 9110 §13.2.2. */
export function decideResource(resource: Resource, request: RequestFields): Answer {
  const weights = codingWeights(request.acceptEncoding)

  // 3. The representation. A range is one of the identity, so that it never meets a coding.
  const whole = selectRepresentation(resource, weights)
  const range = weights.identity > 0 ? rangeOf(resource, request, whole) : undefined
  const selected = range === undefined ? whole : resource.identity
  if (selected === undefined) return notAcceptable(resource)

  // 4. The preconditions.
  const status = evaluatePreconditions(request, resource, selected)
  if (status === 304) return selected.notModified
  if (status === 412) return preconditionFailed(resource)

  // 5. The range.
  if (range === 'unsatisfiable') return rangeNotSatisfiable(resource)
  if (range !== undefined) return partialContent(selected, range)

  return selected.ok
}

function rangeOf(
  resource: Resource,
  request: RequestFields,
  whole: Representation | undefined,
): ByteRange | 'unsatisfiable' | undefined {
  // RFC 9110 §14.2: a Range field means something to GET alone.
  if (request.range === undefined || request.method !== 'GET') return undefined
  if (!ifRangeHolds(request.ifRange, resource, whole)) return undefined
  return parseByteRange(request.range, resource.identity.bytes.size)
}

/** A path that is as if it were unknown, but for its page. */
function decideMissing(page: Resource, request: RequestFields): Answer | undefined {
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
  return decideNotFound(page, request) ?? notFound
}

/** A path that the table does not have: a redirect, a page in its place, or nothing of ours. */
function decideUnknown(
  site: Site,
  request: RequestFields,
  { path, query }: RequestPath,
  fallback: Fallback | undefined,
): Answer | undefined {
  // What a rule does not force yields to a file.
  const rules = fallback === undefined ? site.redirects.filter(({ force }) => force) : site.redirects
  const match = matchRedirect(rules, path)

  if (request.method !== 'GET' && request.method !== 'HEAD') {
    // A page in the place of what is not there makes no path known: navigations alone get it.
    const isKnown = match !== undefined && match.status !== 404 && match.target?.isPage !== true
    return isKnown ? decideOtherMethod(request.method, match.target?.preflight) : undefined
  }

  const isAsset = site.assetsPath !== undefined && path.startsWith(site.assetsPath)
  const mayGetPage = !isAsset && isNavigation(request)

  if (match !== undefined) {
    if (match.target === undefined) return redirectTo(match, query)
    // A page never stands in for a script, a picture or a hashed asset that is not there.
    if (match.status === 404) return decideNotFound(match.target, request)
    if (mayGetPage || !match.target.isPage) return decideResource(match.target, request)
  }

  if (fallback === undefined || fallback === 'none' || !path.startsWith(site.base) || !isNavigation(request))
    return undefined
  if (site.notFound !== undefined) return decideNotFound(site.notFound, request)
  return fallback === 'spa' && mayGetPage && site.index !== undefined
    ? decideResource(site.index, request)
    : undefined
}

/** The page of a 404; without an acceptable coding the plain one does. */
function decideNotFound(page: Resource, request: RequestFields): Answer | undefined {
  return selectRepresentation(page, codingWeights(request.acceptEncoding))?.notFound
}
