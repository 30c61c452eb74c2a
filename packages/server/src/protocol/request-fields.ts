/**
 * The parts of a request that affect its answer. Absent fields are `undefined`; repeated fields are joined
 * (RFC 9110 §5.3).
 */
export interface RequestFields {
  readonly method: string
  /** The target of the request line (RFC 9112 §3.2). */
  readonly target: string
  readonly accept: string | undefined
  readonly acceptEncoding: string | undefined
  readonly ifMatch: string | undefined
  readonly ifModifiedSince: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly ifRange: string | undefined
  readonly ifUnmodifiedSince: string | undefined
  readonly range: string | undefined
  readonly secFetchMode: string | undefined
  /** The dictionary that the client has (RFC 9842 §2.2). */
  readonly availableDictionary: string | undefined
  /** This and the next field are read only together with `Available-Dictionary`. */
  readonly secFetchSite: string | undefined
  readonly origin: string | undefined
}

/** A request for `/` without any of these fields. */
export const noRequestFields: RequestFields = {
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
  availableDictionary: undefined,
  secFetchSite: undefined,
  origin: undefined,
}
