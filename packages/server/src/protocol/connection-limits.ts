/** Limits for clients. Node's strict parser is used: `insecureHTTPParser` is never set. */
export const connectionLimits = {
  /** Milliseconds for the head of a request (a slower client gets 408), a TLS handshake, and the answer to a PING. */
  headersTimeout: 15_000,
  /** Milliseconds for a whole request without an application that reads its body. */
  requestTimeout: 30_000,
  /** Milliseconds for a whole request with an application that reads its body: Node's default. */
  uploadTimeout: 300_000,
  /**
   * Milliseconds that a connection may idle between requests: longer than the usual 60 s of load balancers.
   */
  keepAliveTimeout: 65_000,
  /**
   * Milliseconds without a byte in either direction during a request, after which the connection is closed.
   */
  socketTimeout: 60_000,
  /** Milliseconds between checks of the first two limits. */
  connectionsCheckingInterval: 5000,
  /** The maximum size of a request's head in bytes. */
  maxHeaderSize: 16_384,
  /**
   * The maximum number of connections per process, to bound the memory. Further connections are closed
   * immediately.
   */
  maximumConnections: 10_000,
  /**
   * The maximum number of running HTTP/2 requests per process, equal to the maximum number of connections.
   */
  maximumStreams: 10_000,
}

export type ConnectionLimits = Readonly<typeof connectionLimits>

/** Milliseconds that a new connection has for its first request when the server stops. */
export const newConnectionGrace = 1000

/** The number of bytes per time limit that counts as progress. Single bytes do not. */
export const minimumProgressBytes: number = 64 * 1024

/** In milliseconds (24.8 days). Node fires longer timers immediately. */
export const maximumTimeout: number = 2 ** 31 - 1
