import type { SecureServerOptions } from 'node:http2'

/** The maximum of concurrent requests per connection, as in nginx and h2o. */
export const maximumConcurrentStreams = 128

/** The maximum of fields in a request, including pseudo-fields. */
export const maximumFields = 128

/** Limits of an HTTP/2 session for which Node has options. `limit-session.ts` has the others. */
export const http2Limits: SecureServerOptions = {
  settings: {
    maxConcurrentStreams: maximumConcurrentStreams,
  },
  maxHeaderListPairs: maximumFields,
  /** Entries of a SETTINGS frame; seven are defined. */
  maxSettings: 16,
  /** Invalid frames that do not end the session, in its lifetime. */
  maxSessionInvalidFrames: 100,
  /** Streams beyond `maxConcurrentStreams`, in the lifetime of a session. */
  maxSessionRejectedStreams: 100,
}

/**
 * Streams that a client may cancel, or make the server cancel, before its session ends (CVE-2023-44487
 * "rapid reset", CVE-2025-8671 "made you reset"). The numbers are those of nghttp2, which counts only
 * cancellations by the client.
 */
export const resetLimit: RateLimit = { burst: 1000, perSecond: 33 }

/** PING and SETTINGS frames of a client, which require answers (CVE-2019-9512, CVE-2019-9515). */
export const controlFrameLimit: RateLimit = { burst: 100, perSecond: 10 }

/** A rate limit with a burst. */
export interface RateLimit {
  readonly burst: number
  readonly perSecond: number
}
