/** Milliseconds and counts that hold for each connection; the server's `ConnectionLimits` has them all. */
export interface EngineLimits {
  readonly headersTimeout: number
  readonly keepAliveTimeout: number
  readonly socketTimeout: number
  readonly connectionsCheckingInterval: number
  readonly maximumConnections: number
  /** Over HTTP/2, of those whose answers wait for their clients, of which each thread has an equal part; twice as many for Node. */
  readonly maximumStreams: number
  /** Bytes. */
  readonly maxHeaderSize: number
}

/** How often something may happen: at once, and besides. */
interface EngineRate {
  readonly burst: number
  readonly perSecond: number
}

/** What holds for each session of HTTP/2. */
interface EngineHttp2Limits {
  /** Streams at once. */
  readonly streams: number
  /** Fields of a request. */
  readonly fields: number
  /** Streams that a client may cancel, or have refused, before its session is ended. */
  readonly resets: EngineRate
  /** PING and SETTINGS that it may send. */
  readonly controlFrames: EngineRate
}

/** What an engine is made with. */
export interface EngineOptions {
  /** Threads that accept and answer, each with a loop of its own. */
  readonly threads: number
  readonly limits: EngineLimits
  readonly http2Limits: EngineHttp2Limits
  /** The whole answer to a head that did not come in time, as it is written before the connection is closed. */
  readonly timeoutAnswer: Uint8Array
  /**
   * Where a copy of the large bodies may lie, in a file without a name: in the first folder that is on a disk with room.
   * Where none is, they are sent from memory.
   */
  readonly bodyFolders: readonly string[]
  /** Absent where nobody looks at answers: then they cost nothing. */
  readonly observe?: EngineObservations
}

/** What operators see of answers. */
interface EngineObservations {
  /** Upper bounds of the histogram of durations, in seconds. */
  readonly durationBuckets: readonly number[]
  /** Whether each answer leaves a record; once 16 MiB of a thread's wait, Node answers. */
  readonly log: boolean
}

/** A connection whose next request Node answers. */
export interface HandedConnection {
  /** Names it for `done` and `closed`. */
  readonly id: number
  /** Node's end of a socket pair, which Node closes from now on. */
  readonly fd: number
  /** Of the peer; `''` for a unix socket. */
  readonly address: string
  /** Of the peer; 0 for a unix socket. */
  readonly port: number
  /** What Node reads from it. */
  readonly protocol: 'http1' | 'http2'
  /** How the peer's connection is encrypted, where it is; the one to Node never is. */
  readonly encryption?: HandedEncryption
}

/** What a handshake of TLS has found. */
export interface HandedEncryption {
  /** As OpenSSL names it: `TLSv1.2` or `TLSv1.3`. */
  readonly version: string
  /** As its RFC names it, such as `TLS_AES_256_GCM_SHA384`. */
  readonly cipher: string
  /** The host that the peer wants. */
  readonly serverName?: string
  /** What ALPN has agreed on. */
  readonly protocol?: string
  /** Whether it goes on with an earlier session. */
  readonly isResumed: boolean
}

/** How an engine encrypts connections. */
export interface EngineCredentials {
  /** In PEM form: the server's own, the chain behind it. */
  readonly certificate: Uint8Array
  /** In PEM form, not encrypted. */
  readonly key: Uint8Array
  /** What ALPN offers, the best first. */
  readonly protocols: readonly string[]
}

/** What an engine tells JavaScript, each in a turn of its own. */
export interface EngineListener {
  /** A connection needs Node for the first time, or again after Node closed its end. */
  readonly handed: (connection: HandedConnection) => void
  /** The client of a handed connection is gone for good; Node's end is of no more use. */
  readonly closed: (id: number) => void
  /** The engine has refused a request by itself. */
  readonly refused: (refusal: RefusedRequest) => void
  /** A file has changed amid an answer, which was cut off: its path, as the table has it. */
  readonly changed: (path: string) => void
}

/** A request that got an answer of the engine which is no build's. */
interface RefusedRequest {
  /** 408 for a head that did not come in time, 502 where Node could not be had. */
  readonly status: number
  /** A code as Node and the system have it. */
  readonly error: string
  /** Of the peer; `''` for a unix socket. */
  readonly address: string
}

/** Where an engine listens. */
export type EngineAddress =
  | { readonly host: string; readonly port: number }
  | { readonly path: string; readonly mode: number }
  | {
      readonly descriptor: number
      /** Whether all that accept from this socket stop together. */
      readonly isOwn: boolean
      /** Whether engines of other processes accept from it. */
      readonly isShared: boolean
    }

/** Where an engine has found to listen. */
export interface ListeningAddress {
  /** An IP address, or the path of a unix socket. */
  readonly address: string
  /** 0 for a unix socket. */
  readonly port: number
}

/** A socket that several engines are to listen on, each in a process of its own; nobody listens on it by itself. */
export interface SharedSocket {
  /** Its number in this process. */
  readonly descriptor: number
  /** Closes it in this process, and removes the file of a unix socket. */
  close(): void
}

/**
 * The answers of one build, flat: as objects, 10,000 files took 330 ms of the JavaScript thread. Text is Latin-1.
 *
 * `index` begins with `[resources, representations, layouts, templates]`. Then come the resources, 10 numbers each: where
 * the text of the path begins, its length; its layout; its first representation, how many it has; the texts of
 * `Last-Modified` and `Use-As-Dictionary` (length 0: none); flags (`engineFlags`). Then the representations, 6 numbers each:
 * its template; the entity tag with its quotes; the slab of the body, where the body begins in it, its length. Then the
 * templates, 4 numbers each: the text of the head of the 200, and of the 304. Heads are status line and fields, each line
 * with its CRLF, without `Date`, `Connection`, `Keep-Alive` and the empty line, which the engine adds; in the place of
 * what differs between files they have a mark (`engineMarks`).
 */
export interface EngineTable {
  /** Nobody writes to it from now on. */
  readonly text: Uint8Array
  readonly index: Uint32Array
  /** Memory of bodies: nobody writes to it from now on. */
  readonly slabs: readonly Uint8Array[]
  /** Files of bodies that are not in memory; in the index their numbers follow those of the slabs. */
  readonly files: readonly EngineFile[]
  /** The values of `Accept-Encoding` that are known; the first stands for its absence. */
  readonly codings: readonly string[]
  /** For each of them and each layout by turns: the place of the representation within its resource, or `engineNodeChoice`. */
  readonly choices: Uint8Array
  /**
   * Where answers are observed: of each template the class of its 200 and that of its 304, below 64. What is of one
   * class is counted as one, whatever build it is of.
   */
  readonly classes?: Uint8Array
  /** Where answers are observed: of each representation the bytes that its coding saves. */
  readonly saved?: Float64Array
}

/** A file that is read for each answer. Where it is another one by then, Node answers. */
export interface EngineFile {
  /** Absolute. */
  readonly path: string
  /** Its fingerprint and its time of change: `size:mtimeNs:dev:ino:ctimeNs`. */
  readonly state: string
  /** Whether its bytes were compared with a digest; else its time of change has to stay the same during an answer, too. */
  readonly hasDigest: boolean
}

/** What stands in a template for a value of the representation or its resource: octets that no field has. */
export const engineMarks = {
  entityTag: '\u0001',
  contentLength: '\u0002',
  lastModified: '\u0003',
  useAsDictionary: '\u0004',
} as const

/** Flags of a resource. */
export const engineFlags = {
  /** Node answers a request for it that has `Available-Dictionary`. */
  hasDeltas: 1,
  /** Node answers a request over HTTP/2 that gets its body, and sends a 103 before it. */
  hasHints: 2,
} as const

/** The choice that says: Node answers. */
export const engineNodeChoice = 255

/** The slab of a representation whose body is not in memory: Node answers. */
export const noSlab = 0xff_ff_ff_ff

/** The engine, as the addon has it. */
export interface Engine {
  /**
   * Answers from this table from now on; answers under way end as they began.
   *
   * @throws Error for a table whose numbers point outside of it.
   */
  setTable(table: EngineTable): void
  /** Answers requests with this value by itself; `choices` is one byte for each layout of the current table. */
  learnCoding(value: string, choices: Uint8Array): void
  /** Takes all learned values of `Accept-Encoding` back. */
  forgetCodings(): void
  /** Answers requests with this `Host` by itself. */
  learnHost(value: string): void
  /** Takes all learned hosts back. */
  forgetHosts(): void
  /**
   * Encrypts new connections so from now on; open ones go on. Before the first call none are encrypted.
   *
   * @throws Error for what cannot be used, such as a kind of key that the engine does not know.
   */
  setCredentials(credentials: EngineCredentials): void
  /**
   * Accepts connections.
   *
   * @throws Error with the system's `code`, such as `EADDRINUSE`.
   */
  listen(address: EngineAddress): ListeningAddress
  /** Node's answer to the request under way is whole after so many bytes on the handed connection. */
  done(id: number, bytesWritten: number): void
  /**
   * Node closes its end of a handed connection next, and its client must not take that for the end of the answer: it gets a
   * reset.
   */
  reset(id: number): void
  /** Connections that are open. */
  connections(): number
  /** Connections that a fault of the engine has closed, each alone; the fault itself is on standard error. */
  panics(): number
  /** Connections that were closed at once, because too many are open for the engine or for the system. */
  dropped(): number
  /**
   * What was counted of answers since the begin, where they are observed: answers begun, those aborted, bytes saved by whole
   * ones, bytes of bodies that were sent, nanoseconds that answers took; 64 classes of answers that have ended; the parts of
   * the histogram, one more than it has bounds.
   */
  counts(): Float64Array
  /**
   * Takes the records of each thread that has made some, in the order of ends. Each one, in little-endian: its length (u32),
   * when the answer ended (seconds since 1970, f64), how many seconds it took (f64), bytes of its body that were sent (u64),
   * its class (u8), whether it was aborted (u8), the length of the peer's address (u8), the address, the head of the request.
   */
  takeLog(): Uint8Array[]
  /**
   * Stops: no new connections but those that the system has queued, idle ones are closed at once, new ones after a second,
   * answers under way get so many milliseconds and say `Connection: close`. Settles when the last one is closed.
   */
  drain(gracePeriod: number): Promise<void>
}

/** What the addon exports. */
export interface EngineBinding {
  readonly Engine: {
    new (options: EngineOptions, listener: EngineListener): Engine
    /** @throws Error for what `setCredentials` would not take. */
    checkCredentials(credentials: EngineCredentials): void
  }
  readonly SharedSocket: {
    /** @throws Error with the system's `code`, such as `EADDRINUSE`. */
    new (address: EngineAddress): SharedSocket
  }
}
