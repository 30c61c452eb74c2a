import { isStrong, matchesStrongly, matchesWeakly } from './entity-tag.ts'
import { parseHttpDate } from './http-date.ts'
import type { RequestFields } from './request-fields.ts'
import type { Representation, Resource } from './site.ts'

/**
 * Evaluates a GET's or HEAD's preconditions in the order of RFC 9110 §13.2.2, up to but without
 * `If-Range`: the status to answer with, or `undefined` to go on.
 */
export function evaluatePreconditions(
  request: RequestFields,
  resource: Resource,
  selected: Representation,
): 304 | 412 | undefined {
  if (request.ifMatch !== undefined) {
    if (!matchesStrongly(request.ifMatch, selected.entityTag)) return 412
  } else if (request.ifUnmodifiedSince !== undefined) {
    const date = parseHttpDate(request.ifUnmodifiedSince)
    if (isDated(resource) && date !== undefined && resource.lastModified > date) return 412
  }
  if (request.ifNoneMatch !== undefined) {
    return matchesWeakly(request.ifNoneMatch, selected.entityTag) ? 304 : undefined
  }
  if (request.ifModifiedSince !== undefined) {
    // Nearly always the very text that we sent.
    if (request.ifModifiedSince === resource.lastModifiedField) return 304
    const date = parseHttpDate(request.ifModifiedSince)
    if (isDated(resource) && date !== undefined && resource.lastModified <= date) return 304
  }
  return undefined
}

/**
 * Whether `If-Range` lets the range apply (RFC 9110 §13.1.5): no such field, our strong entity tag, or
 * exactly our date. Where the tag is a weak one, so is the date: what changes twice in a second has one date.
 */
export function ifRangeHolds(
  field: string | undefined,
  resource: Resource,
  representation: Representation,
): boolean {
  if (field === undefined) return true
  if (!isStrong(representation.entityTag)) return false
  return field === representation.entityTag || field === resource.lastModifiedField
}

/** RFC 9110 §13.1.3: without a modification date a condition on it is ignored. */
function isDated(resource: Resource): resource is Resource & { readonly lastModified: number } {
  return resource.lastModified !== undefined
}
