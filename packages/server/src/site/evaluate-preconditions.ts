import { isStrong, matchesStrongly, matchesWeakly } from '../protocol/entity-tag.ts'
import { parseHttpDate } from '../protocol/http-date.ts'
import type { DecisionTrace } from './decision-trace.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import type { Representation, Resource } from './site.ts'

/**
 * Evaluates a GET's or HEAD's preconditions in the order of RFC 9110 §13.2.2, up to but without
 * `If-Range`: the status to answer with, or `undefined` to go on.
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
  // Nearly always the very text that we sent.
  if (field === resource.lastModifiedField) return false
  const date = parseHttpDate(field)
  return !isDated(resource) || date === undefined || resource.lastModified > date
}

/**
 * Whether `If-Range` lets a range of the identity apply (RFC 9110 §13.1.5): no such field, our strong entity
 * tag, or exactly our date. Where the tag is a weak one, so is the date: what changes twice in a second has one date.
 *
 * @param whole - what is sent without a range. One date stands for all codings (§8.8.2.2): who is sent a coding
 * by it has a part of that, which no part of the identity completes.
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

/** RFC 9110 §13.1.3: without a modification date a condition on it is ignored. */
function isDated(resource: Resource): resource is Resource & { readonly lastModified: number } {
  return resource.lastModified !== undefined
}
