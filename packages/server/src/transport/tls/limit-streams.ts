import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import { type ConnectionLimits, minimumProgressBytes } from '../../protocol/connection-limits.ts'
import type { Http2Request } from './http2-request.ts'
import type { Http2Response } from './http2-response.ts'

/** Ends streams whose clients stall: Node's time limits look at a session alone, and any PING postpones those. */
export interface StreamLimiter {
  /** Counts a stream; where there are too many, it or another one is ended. */
  add(stream: ServerHttp2Stream, session: Http2Session): void
  /** Tells what is read of a stream, and what is written to it. */
  observe(request: Http2Request, response: Http2Response): void
  /** Ends the streams that took too long. */
  sweep(): void
  /** The streams of a session that are open. */
  of(session: Http2Session): ReadonlySet<ServerHttp2Stream>
}

interface OpenStream {
  request?: Http2Request
  response?: Http2Response
  /** When its request, and then so many bytes of an upload, began to come. */
  receivingSince: number
  received: number
  /** When its client last took something, or had nothing to take. */
  sendingSince: number
  taken: number
  /** What its session had been given to send by then. */
  sent: number
}

/** Holds the streams of a server to its limits. */
export function limitStreams(limits: ConnectionLimits, takesUploads: boolean): StreamLimiter {
  const receivingLimit = takesUploads ? limits.uploadTimeout : limits.requestTimeout
  const streams = new Map<ServerHttp2Stream, OpenStream>()
  const sessions = new Map<Http2Session, Set<ServerHttp2Stream>>()

  const remove = (stream: ServerHttp2Stream, session: Http2Session): void => {
    streams.delete(stream)
    const ofSession = sessions.get(session)
    ofSession?.delete(stream)
    if (ofSession?.size === 0) sessions.delete(session)
  }

  /** Sessions share the limit: one that has more than its part gives way, and nobody else is refused. */
  const makeRoom = (newest: ServerHttp2Stream, itsSession: Http2Session): void => {
    const share = limits.maximumStreams / sessions.size
    const size = sessions.get(itsSession)?.size ?? 0
    const [greedy, ofGreedy] = [...sessions].find(([, { size: others }]) => others > share) ?? []
    if (size > share || greedy === undefined || ofGreedy === undefined) {
      // So the client knows that nothing was done, and may ask again (RFC 9113 §8.7).
      newest.close(constants.NGHTTP2_REFUSED_STREAM)
      return
    }
    const [oldest] = ofGreedy
    const since = oldest === undefined ? undefined : streams.get(oldest)?.sendingSince
    if (since !== undefined && performance.now() - since > 2 * limits.connectionsCheckingInterval) {
      // Its client takes nothing: Node would keep what it has encrypted for streams that are ended.
      for (const stream of ofGreedy) streams.delete(stream)
      sessions.delete(greedy)
      setImmediate(() => greedy.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM))
      return
    }
    const victim = [...ofGreedy].find(isIncomplete) ?? [...ofGreedy].at(-1)
    if (victim === undefined) return
    remove(victim, greedy)
    // nghttp2 may be calling us.
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
        const isLate = now - open.receivingSince > receivingLimit && isIncomplete(stream)
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
  // One that is over has no socket to be asked.
  const sent = session === undefined || session.destroyed ? 0 : session.socket.bytesWritten
  // Where the connection is slow, or others are more urgent, a stream waits for its turn.
  if (stream.writableLength === 0 || taken !== open.taken || sent >= open.sent + minimumProgressBytes) {
    Object.assign(open, { taken, sent, sendingSince: now })
  }
}

function isIncomplete(stream: ServerHttp2Stream): boolean {
  return !stream.endAfterHeaders && stream.state.remoteClose !== 1
}

/** At once: a session whose client reads nothing does not get rid of the code. */
function cancel(stream: ServerHttp2Stream): void {
  stream.close(constants.NGHTTP2_CANCEL)
  stream.destroy()
}
