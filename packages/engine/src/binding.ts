/** Limits for connections. Times are in milliseconds. `ConnectionLimits` of the server documents them. */
export interface EngineLimits {
  readonly headersTimeout: number
  readonly keepAliveTimeout: number
  readonly socketTimeout: number
  readonly connectionsCheckingInterval: number
  readonly maximumConnections: number
  /**
   * The maximum number of pending HTTP/2 answers, divided equally between threads. For streams that Node answers, the
   * maximum is twice as high.
   */
  readonly maximumStreams: number
  /** The maximum size of a request's fields in bytes. */
  readonly maxHeaderSize: number
}

/** A rate limit: the events that may happen at once, and the additional events per second. */
interface EngineRate {
  readonly burst: number
  readonly perSecond: number
}

/** Limits for each HTTP/2 session. */
interface EngineHttp2Limits {
  /** The maximum number of concurrent streams. */
  readonly streams: number
  /** The maximum number of a request's fields. */
  readonly fields: number
  /** The rate of canceled and refused streams. The session ends if the client exceeds it. */
  readonly resets: EngineRate
  /** The rate of PING and SETTINGS frames. */
  readonly controlFrames: EngineRate
}

/** The options of an engine. */
export interface EngineOptions {
  /** The number of threads that accept and answer, each with its own event loop. */
  readonly threads: number
  readonly limits: EngineLimits
  readonly http2Limits: EngineHttp2Limits
  /** The complete answer to a head that exceeds its time limit. */
  readonly timeoutAnswer: Uint8Array
  /**
   * Folders for an unnamed file with copies of the large bodies. The engine uses the first one on a disk with enough
   * free space. Without such a folder, it sends these bodies from memory.
   */
  readonly bodyFolders: readonly string[]
  /** Enables metrics and logs. Without it, they cost nothing. */
  readonly observe?: EngineObservations
}

/** Options for metrics and logs. */
interface EngineObservations {
  /** The upper bounds of the histogram of durations, in seconds. */
  readonly durationBuckets: readonly number[]
  /** Whether each answer creates a log record. If 16 MiB of a thread are unread, Node answers. */
  readonly log: boolean
}

/** A connection that Node receives, because Node must answer its next request. */
export interface HandedConnection {
  /** Identifies the connection in `done`, `reset` and `closed`. */
  readonly id: number
  /** Node's end of a socket pair. Node must close it. */
  readonly fd: number
  /** The client's IP address. Empty for a unix socket. */
  readonly address: string
  /** The client's port. 0 for a unix socket. */
  readonly port: number
  /** The protocol that Node must parse. */
  readonly protocol: 'http1' | 'http2'
  /** The client's TLS handshake. Absent without TLS. The socket pair itself is never encrypted. */
  readonly encryption?: HandedEncryption
}

/** The result of a TLS handshake. */
export interface HandedEncryption {
  /** The name in OpenSSL: `TLSv1.2` or `TLSv1.3`. */
  readonly version: string
  /** The name in the RFC, such as `TLS_AES_256_GCM_SHA384`. */
  readonly cipher: string
  /** The host that the client requested (SNI). */
  readonly serverName?: string
  /** The protocol that ALPN selected. */
  readonly protocol?: string
  /** Whether it resumed an earlier session. */
  readonly isResumed: boolean
}

/** A certificate, its key and the protocols for ALPN. */
export interface EngineCredentials {
  /** The certificate in PEM format, followed by its chain. */
  readonly certificate: Uint8Array
  /** The unencrypted key in PEM format. */
  readonly key: Uint8Array
  /** The protocols for ALPN. The first one has priority. */
  readonly protocols: readonly string[]
}

/** Functions that receive the events of an engine. Each event runs in a separate task of the event loop. */
export interface EngineListener {
  /** A connection needs Node for the first time, or again after Node closed its end. */
  readonly handed: (connection: HandedConnection) => void
  /** The client of a handed connection has disconnected. Node's end has no further use. */
  readonly closed: (id: number) => void
  /** The engine has answered a request with an error. */
  readonly refused: (refusal: RefusedRequest) => void
  /** A file changed while it was sent, and the engine aborted the answer. The path equals that of the table. */
  readonly changed: (path: string) => void
}

/** A request that the engine answered with an error. */
interface RefusedRequest {
  /** 408 for a slow head, or 502 if Node is unreachable. */
  readonly status: number
  /** An error code of Node or of the system. */
  readonly error: string
  /** The client's IP address. Empty for a unix socket. */
  readonly address: string
}

/** The address of a listening socket. */
export type EngineAddress =
  | { readonly host: string; readonly port: number }
  | { readonly path: string; readonly mode: number }
  | {
      readonly descriptor: number
      /** Whether all processes that accept from the socket stop together. */
      readonly isOwn: boolean
      /** Whether engines of other processes accept from the socket. */
      readonly isShared: boolean
    }

/** The address on which an engine listens. */
export interface ListeningAddress {
  /** An IP address, or the path of a unix socket. */
  readonly address: string
  /** 0 for a unix socket. */
  readonly port: number
}

/** A bound socket on which the engines of several processes can listen. It does not listen itself. */
export interface SharedSocket {
  /** The descriptor in this process. */
  readonly descriptor: number
  /** Closes the socket in this process and removes the file of a unix socket. */
  close(): void
}

/**
 * The answers of one build as flat arrays. Objects for 10,000 files blocked the event loop for 330 ms. Texts use Latin-1.
 *
 * A text is a pair of numbers: its position in `text` and its length. A length of 0 means that there is no value.
 * `index` contains (`engineStrides` repeats the counts):
 *
 * 1. `[resources, representations, layouts, templates]`: the number of each.
 * 2. 10 numbers per resource: its path (text), its layout, the number of its first representation, the count of its
 *    representations, `Last-Modified` (text), `Use-As-Dictionary` (text), and its flags (`engineFlags`) plus
 *    `engineRuleUnit` times the number of the rule that protects it, from 1; 0 for none.
 * 3. 6 numbers per representation: its template, its entity tag with quotes (text), and the slab, the position and the
 *    length of its body.
 * 4. 4 numbers per template: the heads of the 200 and of the 304 (texts).
 *
 * A head is a status line and fields, each with CRLF. `engineMarks` are placeholders for values that differ between
 * files. The engine appends `Date`, `Connection`, `Keep-Alive` and the empty line.
 */
export interface EngineTable {
  /** Must not change afterwards. */
  readonly text: Uint8Array
  readonly index: Uint32Array
  /** The bodies in memory. They must not change afterwards. */
  readonly slabs: readonly Uint8Array[]
  /** The files with bodies that are not in memory. In `index`, their numbers follow those of the slabs. */
  readonly files: readonly EngineFile[]
  /** The known values of `Accept-Encoding`. The first one represents its absence. */
  readonly codings: readonly string[]
  /** For each coding and each layout: the index of the representation within its resource, or `engineNodeChoice`. */
  readonly choices: Uint8Array
  /**
   * For each template, the class of its 200 and the class of its 304. Needed for metrics and logs. Classes are below
   * 64, and the counters of a class continue across builds.
   */
  readonly classes?: Uint8Array
  /** For each representation, the bytes that its coding saves. Needed for metrics. */
  readonly saved?: Float64Array
}

/** A file that the engine reads for each answer. If the file has changed, Node answers. */
export interface EngineFile {
  /** The absolute path. */
  readonly path: string
  /** The fingerprint and the change time: `size:mtimeNs:dev:ino:ctimeNs`. */
  readonly state: string
  /** The digest of its bytes, in hexadecimal digits. Without it, each change of the change time aborts an answer. */
  readonly sha256?: string
}

/** Placeholders in templates. Field values cannot contain these octets. */
export const engineMarks = {
  entityTag: '\u0001',
  contentLength: '\u0002',
  lastModified: '\u0003',
  useAsDictionary: '\u0004',
} as const

/** The count of numbers in `index` for each part of a table. A test of the crate compares all constants. */
export const engineStrides = {
  resource: 10,
  representation: 6,
  template: 4,
} as const

/** The count of numbers in the first two parts of `Engine.counts`. A test of the crate compares them. */
export const engineCounts = {
  totals: 5,
  classes: 64,
} as const

/** Flags of a resource. */
export const engineFlags = {
  /** Node answers requests with `Available-Dictionary`. */
  hasDeltas: 1,
  /** Node answers HTTP/2 requests for the body, because it sends a 103 first. */
  hasHints: 2,
} as const

/** See the flags in `EngineTable`. */
export const engineRuleUnit = 256

/** The choice that means that Node answers. */
export const engineNodeChoice = 255

/** The slab number of a body that Node sends. */
export const noSlab = 0xff_ff_ff_ff

/** The native engine. */
export interface Engine {
  /**
   * Replaces the table. Unfinished answers continue with the old table.
   *
   * @throws Error if a number of the table refers to a position outside the table.
   */
  setTable(table: EngineTable): void
  /** Adds a value of `Accept-Encoding`. `choices` has one byte per layout of the current table. */
  learnCoding(value: string, choices: Uint8Array): void
  /** Removes all learned values of `Accept-Encoding`. */
  forgetCodings(): void
  /** Adds an allowed value of `Host`. */
  learnHost(value: string): void
  /** Removes all learned hosts. */
  forgetHosts(): void
  /** Adds an accepted value of `Authorization` to a rule of the current table, until the next table. */
  learnAuthorization(rule: number, value: string): void
  /**
   * Encrypts new connections with these credentials. Without a call, connections are not encrypted.
   *
   * @throws Error if the engine cannot use them, for example an unsupported type of key.
   */
  setCredentials(credentials: EngineCredentials): void
  /**
   * Starts to accept connections.
   *
   * @throws Error with the system's `code`, such as `EADDRINUSE`.
   */
  listen(address: EngineAddress): ListeningAddress
  /** Reports that Node's answer ends after `bytesWritten` bytes of the handed connection. */
  done(id: number, bytesWritten: number): void
  /**
   * Reports that Node is about to close its end of a handed connection in the middle of an answer. The client then
   * receives a reset.
   */
  reset(id: number): void
  /** Returns the number of open connections. */
  connections(): number
  /** Returns the number of connections that a panic has closed. Panics are written to standard error. */
  panics(): number
  /** Returns the number of connections that were closed immediately, because the engine or the system had too many. */
  dropped(): number
  /**
   * Returns the counters since the start, if answers are observed (`engineCounts` repeats the counts):
   *
   * - started answers, aborted answers, bytes saved by complete answers, sent bytes of bodies, and their total duration
   *   in nanoseconds;
   * - ended answers of each class;
   * - ended answers of each histogram bucket, with one more bucket than bounds.
   */
  counts(): Float64Array
  /**
   * Returns the log records since the last call, one array per thread that has any, in the order in which answers
   * ended.
   *
   * Fields of a record, little-endian:
   *
   * - its length (u32),
   * - the end of the answer in seconds since 1970 (f64), and its duration in seconds (f64),
   * - the sent bytes of its body (u64),
   * - its class (u8), and whether it was aborted (u8),
   * - the length of the client's address (u8), and the address,
   * - the head of the request.
   */
  takeLog(): Uint8Array[]
  /**
   * Stops the engine. It accepts connections that are already queued, closes idle ones immediately and new ones after a
   * second. Unfinished answers have `gracePeriod` milliseconds, and send `Connection: close`. Resolves when the last
   * connection is closed.
   */
  drain(gracePeriod: number): Promise<void>
}

/** The exports of the addon. */
export interface EngineBinding {
  readonly Engine: {
    new (options: EngineOptions, listener: EngineListener): Engine
    /** @throws Error if `setCredentials` would reject the credentials. */
    checkCredentials(credentials: EngineCredentials): void
  }
  readonly SharedSocket: {
    /** @throws Error with the system's `code`, such as `EADDRINUSE`. */
    new (address: EngineAddress): SharedSocket
  }
}
