import type { ContentCoding } from '@serve-dist/manifest'

/** What is asked, and which file must come back. */
export interface WorkloadRequest {
  /** The request target, as it goes over the wire. */
  readonly target: string
  /** The file whose bytes are the answer, relative to the workload's folder. */
  readonly file: string
  readonly method: 'GET' | 'HEAD'
  /** The codings of `Accept-Encoding`, in the order that a client lists them. */
  readonly accept: readonly ContentCoding[]
  /** The value of `Accept-Encoding` where the list alone is not it. */
  readonly acceptEncoding?: string
  /** Whether its latency is left out. */
  readonly isUntimed?: boolean
  /** Makes the request conditional on the validator that this very server gave before. */
  readonly condition?: 'If-None-Match' | 'If-Modified-Since'
}

/** What is agreed on by ALPN (RFC 7301). */
export type TlsProtocol = 'http/1.1' | 'h2'

/** A workload that is ready to be sent. */
export interface PreparedWorkload {
  /** A build with variants and a manifest. */
  readonly directory: string
  readonly requests: readonly WorkloadRequest[]
  /** Indexes of `requests` in the order of sending, again and again. */
  readonly sequence: readonly number[]
  /** Whether each request comes over a connection of its own; with TLS, that is a full handshake. */
  readonly newConnections: boolean
  /** Over TLS, with this protocol; without it, HTTP/1.1 as it is. */
  readonly tls?: TlsProtocol
  /** Requests at once on each connection of HTTP/2. */
  readonly streams?: number
  /** Of all connections; without it, each asks again as soon as it has its answer. */
  readonly requestsPerSecond?: number
}

/** One kind of load. */
export interface Workload {
  readonly name: string
  readonly title: string
  /** A round has at least so many seconds of load: a shorter one has too few whole answers. */
  readonly leastSeconds?: number
  /** Sends at a fixed rate: so much of what that server can. */
  readonly rateBeside?: { readonly server: string; readonly share: number }
  /** Makes the fixtures. */
  prepare(): Promise<PreparedWorkload>
}

/** A request that was checked, and what every answer to it must be. */
export interface PlannedRequest {
  readonly text: string
  readonly status: number
  /** Of the whole answer before it is encrypted; over HTTP/2 of its body alone. */
  readonly wireBytes: number
  /** Of its body, in its content coding. */
  readonly bodyBytes: number
  readonly isUntimed: boolean
}

/** What a load generator sends, how, and for how long. */
export interface LoadInput {
  readonly port: number
  readonly planned: readonly PlannedRequest[]
  readonly sequence: readonly number[]
  readonly newConnections: boolean
  readonly tls?: TlsProtocol | undefined
  readonly streams?: number | undefined
  readonly requestsPerSecond?: number | undefined
  /** To be answered however long it takes, where the generator can count instead of waiting for the time's end. */
  readonly requests?: number
  readonly connections: number
  readonly seconds: number
  /** As `taskset -c` takes them. */
  readonly cores: string
}

/** What came back. */
export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  readonly wireBytes: number
  readonly p50Milliseconds: number
  readonly p99Milliseconds: number
  /** How late requests were sent by the generator's own fault: the 99th of a hundred, where it sends at a fixed rate. */
  readonly lateMilliseconds?: number
  /** Counts by kind of error; a count may be 0. */
  readonly errors: Readonly<Record<string, number>>
}
