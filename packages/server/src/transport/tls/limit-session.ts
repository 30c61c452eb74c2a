import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { controlFrameLimit, resetLimit } from '../../protocol/http2-limits.ts'
import { createRateLimiter } from './rate-limiter.ts'

/** Ends a session of HTTP/2 whose client lets the server work for nothing. */
export function limitSession(session: ServerHttp2Session): void {
  const isOneResetTooMany = createRateLimiter(resetLimit)
  const isOneFrameTooMany = createRateLimiter(controlFrameLimit)

  /** One function for all streams of a session. */
  function noteEnd(this: ServerHttp2Stream): void {
    // Cancelled by the client, or by us for what the client sent.
    const isReset = this.aborted || this.rstCode !== constants.NGHTTP2_NO_ERROR
    if (isReset && isOneResetTooMany()) end()
  }
  const noteControlFrame = (): void => {
    if (isOneFrameTooMany()) end()
  }
  let isEnding = false
  const end = (): void => {
    if (isEnding) return
    isEnding = true
    // Not at once: we are called by nghttp2, and a session that is destroyed below it makes Node 20 end the
    // process with a failed assertion (`current_nghttp2_memory_ >= previous_size`).
    setImmediate(() => {
      session.destroy(new Error('the client cancels or asks too often'), constants.NGHTTP2_ENHANCE_YOUR_CALM)
    })
  }

  session.on('stream', (stream) => stream.once('close', noteEnd))
  session.on('ping', noteControlFrame)
  session.on('remoteSettings', noteControlFrame)
}
