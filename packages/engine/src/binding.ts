/** Milliseconds and counts that hold for each connection; the server's `ConnectionLimits` has them all. */
export interface EngineLimits {
  readonly headersTimeout: number
  readonly keepAliveTimeout: number
  readonly socketTimeout: number
  readonly connectionsCheckingInterval: number
  readonly maximumConnections: number
  /** Bytes. */
  readonly maxHeaderSize: number
}

/** What an engine is made with. */
export interface EngineOptions {
  /** Threads that accept and answer, each with a loop of its own. */
  readonly threads: number
  readonly limits: EngineLimits
  /** The whole answer to a head that did not come in time, as it is written before the connection is closed. */
  readonly timeoutAnswer: Uint8Array
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
}

/** What an engine tells JavaScript, each in a turn of its own. */
export interface EngineListener {
  /** A connection needs Node for the first time, or again after Node closed its end. */
  readonly handed: (connection: HandedConnection) => void
  /** The client of a handed connection is gone for good; Node's end is of no more use. */
  readonly closed: (id: number) => void
  /** A connection was closed at once because too many are open. */
  readonly dropped: () => void
}

/** Where an engine listens. */
export type EngineAddress =
  | { readonly host: string; readonly port: number }
  | { readonly path: string; readonly mode: number }
  | { readonly descriptor: number }

/** Where an engine has found to listen. */
export interface ListeningAddress {
  /** An IP address, or the path of a unix socket. */
  readonly address: string
  /** 0 for a unix socket. */
  readonly port: number
}

/**
 * The answers of one build, flat: as objects, 10,000 files took 330 ms of the JavaScript thread. Text is Latin-1.
 *
 * `index` begins with `[resources, representations, layouts]`. Then come the resources, 8 numbers each: where the text of
 * the path begins, its length; its layout; its first representation, how many it has; where the text of `Last-Modified`
 * begins, its length (0: none); flags (`engineFlags`). Then the representations, 9 numbers each: where the head of the 200
 * begins, its length; that of the 304; where the opaque tag begins with its quotes, without `W/`, its length; the slab of
 * the body, where the body begins in it, its length. Heads are status line and fields, each line with its CRLF, without
 * `Date`, `Connection`, `Keep-Alive` and the empty line, which the engine adds.
 */
export interface EngineTable {
  readonly text: Uint8Array
  readonly index: Uint32Array
  /** Memory of bodies: nobody writes to it from now on. */
  readonly slabs: readonly Uint8Array[]
  /** The values of `Accept-Encoding` that are known; the first stands for its absence. */
  readonly codings: readonly string[]
  /** For each of them and each layout by turns: the place of the representation within its resource, or `engineAsks`. */
  readonly choices: Uint8Array
}

/** Flags of a resource. */
export const engineFlags = {
  /** Node answers every request for it. */
  asks: 1,
  /** Node answers a request for it that has `Available-Dictionary`. */
  hasDeltas: 2,
} as const

/** The choice that says: Node answers. */
export const engineAsks = 255

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
  /** Answers requests with this `Host` by itself. */
  learnHost(value: string): void
  /** Takes all learned hosts back. */
  forgetHosts(): void
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
  /**
   * Stops: no new connections but those that the system has queued, idle ones are closed at once, new ones after a second,
   * answers under way get so many milliseconds and say `Connection: close`. Settles when the last one is closed.
   */
  drain(gracePeriod: number): Promise<void>
}

/** What the addon exports. */
export interface EngineBinding {
  readonly Engine: new (options: EngineOptions, listener: EngineListener) => Engine
}
