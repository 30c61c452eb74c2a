import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'

/** Answers what a transport received; it calls nobody else. */
export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void

/** Who is told what a transport does by itself. */
export interface TransportWatcher {
  /** Makes a listener whose answers are known. */
  watch(listener: RequestListener): RequestListener
  /** A connection came; once it has gone, nobody knows whose it was. */
  noteConnection(socket: Socket): void
  /** What came on a connection was refused: before it was a request, or as the body of one that had no other answer. */
  noteRefusal(socket: Socket, failure: Error, response?: ServerResponse): void
  /** A connection was closed unheard: there are as many as there may be. */
  noteDrop(): void
}

/** What a transport is to be prepared for. */
export interface TransportOptions {
  /** Whether an application wants requests' bodies, which take their time. */
  readonly takesUploads: boolean
  /** How answers over HTTP/1.1 are made; Node's own class where nothing is said. */
  readonly responseClass?: typeof ServerResponse
  /** Nobody where nothing is said. */
  readonly watcher?: TransportWatcher
}

/** A way in which requests come: HTTP/1.1 over TCP, or TLS with HTTP/2. */
export interface Transport {
  readonly scheme: 'http' | 'https'
  /** Not listening yet. */
  readonly server: Server
  /** Reads again what new connections are met with: a certificate. It never rejects. */
  reload?(): Promise<void>
  /**
   * Takes no new connections; idle ones are closed at once, answers in flight are finished within so many
   * milliseconds. Settles when the last socket is closed.
   */
  drain(gracePeriod: number): Promise<void>
}
