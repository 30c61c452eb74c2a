import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { ConnectionLimits } from '../protocol/connection-limits.ts'
import type { Answer, BasicAuth } from '../site/site.ts'
import type { SiteFollower } from '../site/site-holder.ts'
import type { ListenAddress } from './listen.ts'

/** A handler of requests. */
export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void

/** An observer of a transport. */
export interface TransportWatcher {
  /** Wraps a listener to observe its answers. */
  watch(listener: RequestListener): RequestListener
  /** Called for each connection while the address of its peer is known. */
  noteConnection(socket: Socket): void
  /** Called when the transport rejects malformed bytes, or the body of an unanswered request. */
  noteRefusal(socket: Socket, failure: Error, response?: ServerResponse): void
  /** Called when a connection is closed because too many are open. */
  noteDrop(): void
  /** Observes answers of the native engine. */
  readonly engine?: EngineWatcher
}

/** An observer of answers that an engine sends without the listener. */
export interface EngineWatcher {
  /** Upper bounds of the histogram of durations, in seconds. */
  readonly durationBuckets: readonly number[]
  /** Whether each answer is recorded. */
  readonly isLogged: boolean
  /** Returns the class of an answer, below 64. Answers of the same class are counted together. */
  readonly classOf: (answer: Answer) => number
  /** Observes the answers of an engine. */
  follow(answers: EngineAnswers): void
  /**
   * Called before another site becomes current: the answers that have ended belong to the previous site.
   */
  noteSwap(): void
  /** Called when the engine rejects a request. */
  noteRefusal(refusal: EngineRefusal): void
}

/** The answers of an engine. */
export interface EngineAnswers {
  /**
   * Returns the sums since the start. Classes are indexed by number, durations by bucket; the last bucket
   * has no bound.
   */
  readCounts(): {
    readonly begun: number
    readonly aborted: number
    readonly bytes: number
    readonly savedBytes: number
    readonly seconds: number
    readonly byClass: Float64Array
    readonly byDuration: Float64Array
    /** Internal errors. */
    readonly panics: number
    /** Connections that were closed immediately, because the engine or the system had too many. */
    readonly dropped: number
  }
  /** Takes the answers that have ended since the last call. They are parsed lazily. */
  takeEnded(): Iterator<EngineAnswer>
}

/** A finished answer of an engine. */
export interface EngineAnswer {
  readonly class: number
  readonly request: EngineRequest
  /** The address of the connection's peer; `''` over a unix socket. */
  readonly peer: string
  /** The time of the end in milliseconds since 1970. */
  readonly ended: number
  readonly milliseconds: number
  /** Sent bytes of the body. */
  readonly bytes: number
  readonly isAborted: boolean
}

/** A request in the form of Node's requests. */
export type EngineRequest = Pick<IncomingMessage, 'method' | 'url' | 'httpVersion' | 'rawHeaders'>

/** A request that an engine has rejected. */
interface EngineRefusal {
  readonly status: number
  /** A code in the form of Node's codes. */
  readonly error: string
  /** The address of the connection's peer. */
  readonly address: string
}

/** Options of a transport. */
export interface TransportOptions {
  /** Whether an application reads request bodies, which may take long. */
  readonly takesUploads: boolean
  /** Whether an application accepts WebSockets. By default, upgrade requests are answered like others. */
  readonly takesUpgrades?: boolean
  /** The class of HTTP/1.1 responses; the default is Node's class. */
  readonly responseClass?: typeof ServerResponse
  readonly watcher?: TransportWatcher
  readonly limits?: ConnectionLimits
}

/** A server for HTTP/1.1 over TCP, or for HTTP/1.1 and HTTP/2 over TLS. */
export interface Transport {
  readonly scheme: 'http' | 'https'
  /** The Node server of the connections; with an engine, it never listens. */
  readonly server: Server
  /**
   * Accepts connections.
   *
   * @returns the origin, like `listen`.
   * @throws OperatorError if the address is in use, not permitted, or not local.
   */
  listen(address: ListenAddress): Promise<string>
  /** Receives each site, if the transport answers requests without the listener. */
  readonly follower?: SiteFollower
  /** Called with each accepted value of `Authorization`, if the transport answers requests without the listener. */
  noteAccepted?(rule: BasicAuth, value: string): void
  /** Accepts request bodies and WebSockets from now on, because a rule of the site proxies. */
  takeUploadsAndUpgrades(): void
  /** Reads the certificate again for new connections. It never rejects. */
  reload?(): Promise<void>
  /**
   * Accepts no new connections, closes idle ones immediately, and gives running answers the grace period in
   * milliseconds. Settles when the last socket is closed.
   */
  drain(gracePeriod: number): Promise<void>
}
