/** What clients may cost. Node's parser is the strict one: `insecureHTTPParser` is never set. */
export const connectionLimits = {
  /** Milliseconds for the whole head of a request; a slower client gets a 408. */
  headersTimeout: 15_000,
  /** Milliseconds for a whole request, whose body nobody wants. */
  requestTimeout: 30_000,
  /** Milliseconds for a whole request where an application wants its body: Node's own default. */
  uploadTimeout: 300_000,
  /** Milliseconds that a socket may idle between requests: above the 60 s of the usual load balancers. */
  keepAliveTimeout: 65_000,
  /** Milliseconds without a byte either way amid a request, after which a connection is cut off. */
  socketTimeout: 60_000,
  /** Milliseconds between checks of the first two limits. */
  connectionsCheckingInterval: 5000,
  /** Bytes of a request's head. */
  maxHeaderSize: 16_384,
  /** Sockets at once in one process, so that memory stays bounded; more are closed at once. */
  maximumConnections: 10_000,
  /** Requests under way over HTTP/2 in one process, which its sessions share: as many as there may be connections. */
  maximumStreams: 10_000,
}

export type ConnectionLimits = Readonly<typeof connectionLimits>

/** Milliseconds that a new connection has for its first request before a server that stops counts it as idle. */
export const newConnectionGrace = 1000

/** Bytes within a time limit that show that a transfer goes on: a byte now and then does not. */
export const minimumProgressBytes: number = 64 * 1024

/** In milliseconds, 24.8 days: Node fires a timer that should wait for longer at once. */
export const maximumTimeout: number = 2 ** 31 - 1
