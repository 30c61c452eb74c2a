/** The part of a request that decides its answer; an absent field is `undefined`, a repeated one is joined (RFC 9110 §5.3). */
export interface RequestFields {
  readonly method: string
  /** As it stands in the request line (RFC 9112 §3.2). */
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
  /** As the next: read only beside `Available-Dictionary`, which alone asks for it. */
  readonly secFetchSite: string | undefined
  readonly origin: string | undefined
}

/** A request for `/` that has none of these fields. */
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
