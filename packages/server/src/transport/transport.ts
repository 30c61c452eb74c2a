import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { ConnectionLimits } from '../protocol/connection-limits.ts'
import type { Answer } from '../site/site.ts'
import type { SiteFollower } from '../site/site-holder.ts'
import type { ListenAddress } from './listen.ts'

/** Answers a request. */
export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void

/** Observes what a transport does by itself. */
export interface TransportWatcher {
  /** Makes a listener that reports its answers. */
  watch(listener: RequestListener): RequestListener
  /** Called for each connection while its peer's address is still known. */
  noteConnection(socket: Socket): void
  /** Called when the transport refuses bytes that are no request, or the body of one that has no other answer. */
  noteRefusal(socket: Socket, failure: Error, response?: ServerResponse): void
  /** Called when a connection is closed at once because too many are open. */
  noteDrop(): void
  /** Observes answers that the listener does not give. */
  readonly engine?: EngineWatcher
}

/** Observes what an engine answers without the listener. */
export interface EngineWatcher {
  /** Upper bounds of the histogram of durations, in seconds. */
  readonly durationBuckets: readonly number[]
  /** Whether each answer is noted. */
  readonly isLogged: boolean
  /** The class of an answer, below 64: what is of one class is counted as one. */
  readonly classOf: (answer: Answer) => number
  /** From now on the engine answers, and is asked. */
  follow(answers: EngineAnswers): void
  /** Called before another site takes its place: what has ended until then was answered of the one before. */
  noteSwap(): void
  /** Called when the engine refuses a request. */
  noteRefusal(refusal: EngineRefusal): void
}

/** What an engine has answered. */
export interface EngineAnswers {
  /** Sums since the begin: classes by their numbers, durations by their buckets, with one more behind the last bound. */
  readCounts(): {
    readonly begun: number
    readonly aborted: number
    readonly bytes: number
    readonly savedBytes: number
    readonly seconds: number
    readonly byClass: Float64Array
    readonly byDuration: Float64Array
    /** Faults of its own. */
    readonly panics: number
    /** Connections that were closed at once. */
    readonly dropped: number
  }
  /** Takes the answers that have ended since they were taken last. They are read one by one. */
  takeEnded(): Iterator<EngineAnswer>
}

/** An answer of the engine that has ended. */
export interface EngineAnswer {
  readonly class: number
  readonly request: EngineRequest
  /** The address of the connection's peer; `''` over a unix socket. */
  readonly peer: string
  /** When it ended, in milliseconds since 1970. */
  readonly ended: number
  readonly milliseconds: number
  /** Bytes of its body that were sent. */
  readonly bytes: number
  readonly isAborted: boolean
}

/** A request as Node has it. */
export type EngineRequest = Pick<IncomingMessage, 'method' | 'url' | 'httpVersion' | 'rawHeaders'>

/** A request that an engine has refused. */
interface EngineRefusal {
  readonly status: number
  /** A code as Node has it. */
  readonly error: string
  /** Of the connection's peer. */
  readonly address: string
}

/** How a transport works. */
export interface TransportOptions {
  /** Whether an application reads requests' bodies, which take their time. */
  readonly takesUploads: boolean
  /** Whether an application takes connections of WebSockets; by default their requests are answered like others. */
  readonly takesUpgrades?: boolean
  /** The class of answers over HTTP/1.1; Node's own by default. */
  readonly responseClass?: typeof ServerResponse
  readonly watcher?: TransportWatcher
  readonly limits?: ConnectionLimits
}

/** HTTP/1.1 over TCP, or HTTP/1.1 and HTTP/2 over TLS. */
export interface Transport {
  readonly scheme: 'http' | 'https'
  /** Whose connections these are; that of an engine never listens. */
  readonly server: Server
  /**
   * Accepts connections.
   *
   * @returns its origin, as `listen` does.
   * @throws OperatorError when the address is in use, not allowed or not this machine's.
   */
  listen(address: ListenAddress): Promise<string>
  /** Whom to tell of each site, where it answers without the listener what it can. */
  readonly follower?: SiteFollower
  /** Reads the certificate again, for new connections. It never rejects. */
  reload?(): Promise<void>
  /**
   * Accepts no new connections, closes idle ones at once, and gives answers in flight so many milliseconds. Settles when
   * the last socket is closed.
   */
  drain(gracePeriod: number): Promise<void>
}
