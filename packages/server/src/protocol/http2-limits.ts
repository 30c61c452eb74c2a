import type { SecureServerOptions } from 'node:http2'

/** Requests at once on one connection: what nginx and h2o allow. */
export const maximumConcurrentStreams = 128

/** Fields of a request, those that begin with a colon among them. */
export const maximumFields = 128

/** What one session of HTTP/2 may cost, where Node has an option for it; the rest is in `limit-session.ts`. */
export const http2Limits: SecureServerOptions = {
  settings: {
    maxConcurrentStreams: maximumConcurrentStreams,
  },
  maxHeaderListPairs: maximumFields,
  /** Entries of one SETTINGS frame: there are seven. */
  maxSettings: 16,
  /** Frames that are wrong without being the end of the session, in its whole life. */
  maxSessionInvalidFrames: 100,
  /** Streams that are opened beyond `maxConcurrentStreams`, in a session's whole life. */
  maxSessionRejectedStreams: 100,
}

/**
 * Streams that a client may cancel, or make the server cancel, before its session is ended: a burst, and
 * how many more each second (CVE-2023-44487 "rapid reset", CVE-2025-8671 "made you reset"). The numbers
 * are nghttp2's own, which counts only what the client cancels.
 */
export const resetLimit: RateLimit = { burst: 1000, perSecond: 33 }

/** PING and SETTINGS frames of a client, each of which wants an answer (CVE-2019-9512, CVE-2019-9515). */
export const controlFrameLimit: RateLimit = { burst: 100, perSecond: 10 }

/** How often something may happen. */
export interface RateLimit {
  readonly burst: number
  readonly perSecond: number
}
