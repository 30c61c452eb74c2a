import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { controlFrameLimit, type RateLimit, resetLimit } from '../../protocol/http2-limits.ts'

/** Ends an HTTP/2 session that causes useless work (rapid reset, floods of control frames). */
export function limitSession(session: ServerHttp2Session): void {
  const hasTooManyResets = createRateLimiter(resetLimit)
  const hasTooManyFrames = createRateLimiter(controlFrameLimit)

  /** A shared function for all streams of a session. */
  function noteEnd(this: ServerHttp2Stream): void {
    // Canceled by the client, or by the server because of the client's data.
    const isReset = this.aborted || this.rstCode !== constants.NGHTTP2_NO_ERROR
    if (isReset && hasTooManyResets()) end()
  }
  const noteControlFrame = (): void => {
    if (hasTooManyFrames()) end()
  }
  let isEnding = false
  const end = (): void => {
    if (isEnding) return
    isEnding = true
    // Not synchronously: nghttp2 is the caller, and Node 20 aborts with a failed assertion
    // (`current_nghttp2_memory_ >= previous_size`) if the session is destroyed during the call.
    setImmediate(() => {
      session.destroy(
        new Error('the client cancels streams or sends control frames too often'),
        constants.NGHTTP2_ENHANCE_YOUR_CALM,
      )
    })
  }

  session.on('stream', (stream) => stream.once('close', noteEnd))
  session.on('ping', noteControlFrame)
  session.on('remoteSettings', noteControlFrame)
}

/**
 * Creates a function that returns whether an event exceeds the limit: a token bucket that refills over
 * time.
 */
export function createRateLimiter(
  { burst, perSecond }: RateLimit,
  now: number = performance.now(),
): (time?: number) => boolean {
  let tokens = burst
  let then = now
  return (time = performance.now()) => {
    tokens = Math.min(burst, tokens + ((time - then) / 1000) * perSecond)
    then = time
    if (tokens < 1) return true
    tokens -= 1
    return false
  }
}
