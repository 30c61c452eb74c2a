import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { ConnectionLimits } from '../protocol/connection-limits.ts'
import type { SiteFollower } from '../site/site.ts'
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
}

/** How a transport works. */
export interface TransportOptions {
  /** Whether an application reads requests' bodies, which take their time. */
  readonly takesUploads: boolean
  /** The class of answers over HTTP/1.1; Node's own by default. */
  readonly responseClass?: typeof ServerResponse
  readonly watcher?: TransportWatcher
  readonly limits?: ConnectionLimits
}

/** HTTP/1.1 over TCP, or HTTP/1.1 and HTTP/2 over TLS. */
export interface Transport {
  readonly scheme: 'http' | 'https'
  /** Not listening yet. */
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
