import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import { type ConnectionLimits, minimumProgressBytes } from '../../protocol/connection-limits.ts'
import type { Http2Request } from './http2-request.ts'
import type { Http2Response } from './http2-response.ts'

/**
 * Ends streams of stalled clients. Node's timeouts apply only to whole sessions, and every PING postpones
 * them.
 */
export interface StreamLimiter {
  /** Adds a stream. Beyond the limit, it ends this stream or another one. */
  add(stream: ServerHttp2Stream, session: Http2Session): void
  /** Observes the bytes that are read from a stream and written to it. */
  observe(request: Http2Request, response: Http2Response): void
  /** Ends streams that have exceeded a time limit. */
  sweep(): void
  /** Returns the open streams of a session. */
  of(session: Http2Session): ReadonlySet<ServerHttp2Stream>
}

interface OpenStream {
  request?: Http2Request
  response?: Http2Response
  /** The start of the request, or of the last progress of its upload. */
  receivingSince: number
  received: number
  /** The last time that the client received bytes, or that nothing was pending. */
  sendingSince: number
  taken: number
  /** The bytes that the session had been given to send at that time. */
  sent: number
}

/**
 * Enforces the limits of a server's streams.
 *
 * @param receivingLimit - returns the milliseconds for a request's body without progress.
 */
export function limitStreams(limits: ConnectionLimits, receivingLimit: () => number): StreamLimiter {
  const streams = new Map<ServerHttp2Stream, OpenStream>()
  const sessions = new Map<Http2Session, Set<ServerHttp2Stream>>()

  const remove = (stream: ServerHttp2Stream, session: Http2Session): void => {
    streams.delete(stream)
    const ofSession = sessions.get(session)
    ofSession?.delete(stream)
    if (ofSession?.size === 0) sessions.delete(session)
  }

  /**
   * Makes room for a new stream. A session above its share of the limit loses a stream, so that others are
   * not rejected.
   */
  const makeRoom = (newest: ServerHttp2Stream, itsSession: Http2Session): void => {
    const share = limits.maximumStreams / sessions.size
    const size = sessions.get(itsSession)?.size ?? 0
    const [greedy, ofGreedy] = [...sessions].find(([, { size: others }]) => others > share) ?? []
    if (size > share || greedy === undefined || ofGreedy === undefined) {
      // Tells the client that the request was not processed and may be repeated (RFC 9113 §8.7).
      newest.close(constants.NGHTTP2_REFUSED_STREAM)
      return
    }
    const [oldest] = ofGreedy
    const since = oldest === undefined ? undefined : streams.get(oldest)?.sendingSince
    if (since !== undefined && performance.now() - since > 2 * limits.connectionsCheckingInterval) {
      // Its client reads nothing. Node would keep the encrypted data of ended streams.
      for (const stream of ofGreedy) streams.delete(stream)
      sessions.delete(greedy)
      setImmediate(() => greedy.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM))
      return
    }
    const victim = [...ofGreedy].find(isIncomplete) ?? [...ofGreedy].at(-1)
    if (victim === undefined) return
    remove(victim, greedy)
    // Asynchronous, because nghttp2 may be the caller.
    setImmediate(cancel, victim)
  }

  return {
    add(stream, session) {
      const now = performance.now()
      streams.set(stream, { receivingSince: now, received: 0, sendingSince: now, taken: 0, sent: 0 })
      const ofSession = sessions.get(session) ?? new Set()
      sessions.set(session, ofSession.add(stream))
      stream.once('close', () => remove(stream, session))
      if (streams.size > limits.maximumStreams) makeRoom(stream, session)
    },
    observe(request, response) {
      const { stream } = response
      const open = streams.get(stream)
      if (open !== undefined) Object.assign(open, { request, response })
      const ofSession = stream.session && sessions.get(stream.session)
      if (ofSession !== undefined) response.streams = ofSession
    },
    sweep() {
      const now = performance.now()
      for (const [stream, open] of streams) {
        noteProgress(stream, open, now)
        const isLate = now - open.receivingSince > receivingLimit() && isIncomplete(stream)
        if (isLate || now - open.sendingSince > limits.socketTimeout) cancel(stream)
      }
    },
    of: (session) => sessions.get(session) ?? new Set(),
  }
}

function noteProgress(stream: ServerHttp2Stream, open: OpenStream, now: number): void {
  const { request, response } = open
  if (request !== undefined && request.received >= open.received + minimumProgressBytes) {
    open.received = request.received
    open.receivingSince = now
  }
  const taken = response?.taken ?? 0
  const { session } = stream
  // A finished session has no socket.
  const sent = session === undefined || session.destroyed ? 0 : session.socket.bytesWritten
  // A stream waits for its turn if the connection is slow or others are more urgent.
  if (stream.writableLength === 0 || taken !== open.taken || sent >= open.sent + minimumProgressBytes) {
    Object.assign(open, { taken, sent, sendingSince: now })
  }
}

function isIncomplete(stream: ServerHttp2Stream): boolean {
  return !stream.endAfterHeaders && stream.state.remoteClose !== 1
}

/** Destroys the stream immediately, because a session with a stalled client cannot send the code. */
function cancel(stream: ServerHttp2Stream): void {
  stream.close(constants.NGHTTP2_CANCEL)
  stream.destroy()
}
