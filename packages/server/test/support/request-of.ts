import type { RequestFields } from '../../src/protocol/request-fields.ts'

/** A request without any field, changed by what is given. */
export function requestOf(given: Partial<RequestFields> = {}): RequestFields {
  return {
    method: 'GET',
    target: '/',
    accept: undefined,
    acceptEncoding: undefined,
    ifMatch: undefined,
    ifModifiedSince: undefined,
    ifNoneMatch: undefined,
    ifRange: undefined,
    ifUnmodifiedSince: undefined,
    range: undefined,
    secFetchMode: undefined,
    ...given,
  }
}
