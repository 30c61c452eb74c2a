import type { ServerOptions } from 'node:http'

/**
 * What one client may cost. Node's parser is the strict one: `insecureHTTPParser` is never set.
 */
export const connectionLimits: ServerOptions = {
  /** Milliseconds for the whole head of a request: a slow sender is cut off (408). */
  headersTimeout: 15_000,
  /** Milliseconds for a whole request; it has no body that we would want. */
  requestTimeout: 30_000,
  /** Milliseconds a socket may idle between requests: above the 60 s of the usual load balancers. */
  keepAliveTimeout: 65_000,
  /** Milliseconds between looks at the limits above. */
  connectionsCheckingInterval: 5000,
  /** Bytes of a request's head. */
  maxHeaderSize: 16_384,
}

/** Milliseconds for a whole request where an application wants its body: Node's own default. */
export const uploadTimeout = 300_000

/** Milliseconds without a byte either way, in mid-request: a reader that stalls is cut off. */
export const socketTimeout: number = 60_000

/** Sockets at once in one process; more are refused, so that memory stays bounded. */
export const maximumConnections = 10_000

/** Milliseconds that a new connection has for its first request before a server that stops counts it as idle. */
export const newConnectionGrace = 1000

/** In milliseconds, 24.8 days: Node fires a timer that should wait for longer at once. */
export const longestTimeout: number = 2 ** 31 - 1
