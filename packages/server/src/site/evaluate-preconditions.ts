import { isStrong, matchesStrongly, matchesWeakly } from '../protocol/entity-tag.ts'
import { parseHttpDate } from '../protocol/http-date.ts'
import type { DecisionTrace } from './decision-trace.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import type { Representation, Resource } from './site.ts'

/**
 * Evaluates the preconditions of GET and HEAD in the order of RFC 9110 §13.2.2, except `If-Range`. Returns
 * the status to answer with, or `undefined` if the request continues.
 */
export function evaluatePreconditions(
  request: RequestFields,
  resource: Resource,
  selected: Representation,
  trace?: DecisionTrace,
): 304 | 412 | undefined {
  if (request.ifMatch !== undefined) {
    const status = matchesStrongly(request.ifMatch, selected.entityTag) ? undefined : 412
    trace?.({ code: 'if-match', status, resource, selected })
    if (status !== undefined) return status
  } else if (request.ifUnmodifiedSince !== undefined) {
    const date = parseHttpDate(request.ifUnmodifiedSince)
    const isLater = isDated(resource) && date !== undefined && resource.lastModified > date
    const status = isLater ? 412 : undefined
    trace?.({ code: 'if-unmodified-since', status, resource, selected })
    if (status !== undefined) return status
  }
  if (request.ifNoneMatch !== undefined) {
    const status = matchesWeakly(request.ifNoneMatch, selected.entityTag) ? 304 : undefined
    trace?.({ code: 'if-none-match', status, resource, selected })
    return status
  }
  if (request.ifModifiedSince !== undefined) {
    const status = isModifiedSince(request.ifModifiedSince, resource) ? undefined : 304
    trace?.({ code: 'if-modified-since', status, resource, selected })
    return status
  }
  return undefined
}

function isModifiedSince(field: string, resource: Resource): boolean {
  // Most clients send our own text back.
  if (field === resource.lastModifiedField) return false
  const date = parseHttpDate(field)
  return !isDated(resource) || date === undefined || resource.lastModified > date
}

/**
 * Returns whether `If-Range` permits a range of the identity (RFC 9110 §13.1.5): the field is absent, or it
 * is our strong entity tag or exactly our date. If the tag is weak, the date is weak, too, because a file
 * can change twice in one second.
 *
 * @param whole - the representation that the client would get without `Range`. If it is a coding, a date does not match:
 *   all codings have the same date (§8.8.2.2), and the client may hold a part of that coding.
 */
export function ifRangeHolds(
  field: string | undefined,
  { identity, lastModifiedField }: Resource,
  whole: Representation | undefined,
): boolean {
  if (field === undefined) return true
  if (!isStrong(identity.entityTag)) return false
  return field === identity.entityTag || (whole === identity && field === lastModifiedField)
}

/** RFC 9110 §13.1.3: without a modification date, conditions on it are ignored. */
function isDated(resource: Resource): resource is Resource & { readonly lastModified: number } {
  return resource.lastModified !== undefined
}
