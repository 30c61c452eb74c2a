import type { ContentCoding } from '@serve-dist/manifest'

/** A request, and the file that its answer must contain. */
export interface WorkloadRequest {
  /** The request target, as it goes over the wire. */
  readonly target: string
  /** The file whose bytes are the answer, relative to the workload's folder. */
  readonly file: string
  /** @default 'GET' */
  readonly method?: 'GET' | 'HEAD'
  /** The codings of `Accept-Encoding`, in the order that a client lists them. */
  readonly accept: readonly ContentCoding[]
  /** The value of `Accept-Encoding`, if it has weights. */
  readonly acceptEncoding?: string
  /** Whether its latency is left out. */
  readonly isUntimed?: boolean
  /** Whether the client has the file and sends `If-None-Match` with this server's entity tag. */
  readonly isKnown?: boolean
}

/** The protocol that client and server negotiate by ALPN (RFC 7301). */
export type TlsProtocol = 'http/1.1' | 'h2'

/** A workload that is ready to be sent. */
export interface PreparedWorkload {
  /** A build with variants and a manifest. */
  readonly directory: string
  readonly requests: readonly WorkloadRequest[]
  /** Indexes of `requests` in the order of sending, repeated. @default each in turn */
  readonly sequence?: readonly number[]
  /** Whether each request opens a new connection, with TLS by a full handshake. */
  readonly newConnections?: boolean
  /** The protocol over TLS. @default HTTP/1.1 without TLS */
  readonly tls?: TlsProtocol
  /** Concurrent requests on each connection of HTTP/2. */
  readonly streams?: number
  /** The rate of all connections together. @default each connection sends the next request after its answer */
  readonly requestsPerSecond?: number
}

/** One kind of load. */
export interface Workload {
  readonly name: string
  readonly title: string
  /** The shortest load of a round, in seconds: a shorter one has too few whole answers. */
  readonly leastSeconds?: number
  /** Sends at a fixed rate: a share of what this server can answer, and a number of files per second between them. */
  readonly rateBeside?: { readonly server: string; readonly share: number; readonly files?: number }
  /** Makes the fixtures. */
  prepare(): Promise<PreparedWorkload>
}

/** A checked request, and the required properties of its answers. */
export interface PlannedRequest {
  readonly text: string
  readonly status: number
  /** Bytes of the whole answer before encryption; over HTTP/2, only of its body. */
  readonly wireBytes: number
  /** Bytes of its body, in its content coding. */
  readonly bodyBytes: number
  readonly isUntimed: boolean
}

/** The input of a load generator. */
export interface LoadInput extends Pick<
  PreparedWorkload,
  'newConnections' | 'tls' | 'streams' | 'requestsPerSecond'
> {
  readonly port: number
  readonly planned: readonly PlannedRequest[]
  readonly sequence: readonly number[]
  /** For a generator that ends after a number of requests instead of a time. */
  readonly requestCount?: number
  readonly connections: number
  readonly seconds: number
  /** A list for `taskset -c`. */
  readonly cores: string
}

/** The answers that a load generator got. */
export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  readonly wireBytes: number
  readonly p50Milliseconds: number
  readonly p99Milliseconds: number
  /** The 99th percentile of the generator's own delays in sending, if it sends at a fixed rate. */
  readonly lateMilliseconds?: number
  /** Counts by kind of error; a count may be 0. */
  readonly errors: Readonly<Record<string, number>>
}
