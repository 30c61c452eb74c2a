import type { IncomingMessage, ServerResponse } from 'node:http'
import { chooseLiveCoding } from './choose-live-coding.ts'
import { extendVary } from '../protocol/field-list.ts'
import { createLiveEncoder, liveCodings, type LiveEncoder } from './live-encoder.ts'
import { refuseLateWrite } from '../send/refuse-late-write.ts'
import { type HeadFields, setFields } from './set-fields.ts'

type Callback = (error?: Error | null) => void

/**
 * Lets an answer that is made by somebody else be compressed while it is sent, if it may and wants to be.
 * What is written in one turn of the event loop leaves at its end, so that what streams goes on streaming.
 */
export function compressResponse(request: IncomingMessage, response: ServerResponse): void {
  const writeHead = response.writeHead.bind(response)
  const write = response.write.bind(response)
  const end = response.end.bind(response)
  const prototype: object = Object.getPrototypeOf(response)
  let isDecided = false
  let encoder: LiveEncoder | undefined
  let isEnded = false
  let isFlushDue = false
  let isOurDrain = false

  Object.assign(response, {
    writeHead(status: number, reasonOrFields?: string | HeadFields, fields?: HeadFields) {
      const reason = typeof reasonOrFields === 'string' ? reasonOrFields : undefined
      const given = typeof reasonOrFields === 'object' ? reasonOrFields : fields
      if (given !== undefined) setFields(response, given)
      if (!response.headersSent) decideOnce(status)
      return reason === undefined ? writeHead(status) : writeHead(status, reason)
    },
    write(chunk: string | Uint8Array, codingOrCallback?: BufferEncoding | Callback, callback?: Callback) {
      const coding = typeof codingOrCallback === 'string' ? codingOrCallback : 'utf8'
      const done = typeof codingOrCallback === 'function' ? codingOrCallback : callback
      if (!isDecided && !response.headersSent) response.writeHead(response.statusCode)
      if (encoder === undefined) return write(chunk, coding, done)
      if (isEnded) {
        refuseLateWrite(response, done)
        return false
      }
      const hasRoom = encoder.stream.write(chunk, coding, done)
      flushSoon(encoder)
      return hasRoom
    },
    end(
      chunkOrCallback?: string | Uint8Array | null | (() => void),
      codingOrCallback?: BufferEncoding | (() => void),
      callback?: () => void,
    ) {
      const chunk = typeof chunkOrCallback === 'function' ? null : (chunkOrCallback ?? null)
      const coding = typeof codingOrCallback === 'string' ? codingOrCallback : 'utf8'
      const done = [chunkOrCallback, codingOrCallback, callback].find((each) => typeof each === 'function')
      if (encoder !== undefined && isEnded && chunk !== null) {
        refuseLateWrite(response, done)
        return response
      }
      // Now the length is known, so that Node can tell it where nothing is encoded.
      if (!response.headersSent) decideOnce(response.statusCode, lengthOf(chunk, coding))
      // Who ends what was sent is told so by Node.
      if (encoder === undefined || response.writableFinished) return end(chunk, coding, done)
      if (done !== undefined) response.once('finish', done)
      if (isEnded) return response
      isEnded = true
      // From here on, as without us: the head is made, and the answer is whole.
      if (!response.headersSent) writeHead(response.statusCode)
      if (chunk === null) encoder.stream.end()
      else encoder.stream.end(chunk, coding)
      return response
    },
    // What React and others call where there is one, after a piece that is to be seen.
    flush() {
      encoder?.flush()
    },
  })

  Object.defineProperty(response, 'writableEnded', {
    configurable: true,
    get: () => isEnded || Reflect.get(prototype, 'writableEnded', response),
  })

  function decideOnce(status: number, length?: number): void {
    if (isDecided) return
    isDecided = true
    const field = (name: string): string | undefined => response.getHeader(name)?.toString()
    const contentLength = field('Content-Length')
    const { varies, coding } = chooseLiveCoding(
      {
        status,
        acceptEncoding: request.headers['accept-encoding']?.toString(),
        mediaType: field('Content-Type'),
        contentLength: contentLength === undefined ? length : Number(contentLength),
        contentEncoding: field('Content-Encoding'),
        contentRange: field('Content-Range'),
        cacheControl: field('Cache-Control'),
      },
      liveCodings,
    )
    if (varies) response.setHeader('Vary', extendVary(field('Vary') ?? '', 'Accept-Encoding'))
    if (coding === undefined) return
    response.setHeader('Content-Encoding', coding)
    response.removeHeader('Content-Length')
    // RFC 9110 §8.8.1: the bytes are others now, and not the same each time.
    const entityTag = field('ETag')
    if (entityTag?.startsWith('"') === true) response.setHeader('ETag', `W/${entityTag}`)
    if (request.method !== 'HEAD') encoder = start(createLiveEncoder(coding))
  }

  function start(started: LiveEncoder): LiveEncoder {
    const { stream } = started
    stream.on('data', (bytes: Buffer) => {
      if (!write(bytes)) stream.pause()
    })
    response.on('drain', () => {
      if (!isOurDrain) stream.resume()
    })
    // Who makes the answer waits for the response to have room.
    stream.on('drain', () => {
      isOurDrain = true
      response.emit('drain')
      isOurDrain = false
    })
    stream.once('end', () => end())
    stream.once('error', (error) => response.destroy(error))
    response.once('close', () => stream.destroy())
    return started
  }

  /** One flush for all that is written in this turn: each costs a few bytes. */
  function flushSoon(started: LiveEncoder): void {
    if (isFlushDue) return
    isFlushDue = true
    setImmediate(() => {
      isFlushDue = false
      if (!started.stream.destroyed && !started.stream.writableEnded) started.flush()
    })
  }
}

function lengthOf(chunk: string | Uint8Array | null, coding: BufferEncoding): number {
  if (chunk === null) return 0
  return typeof chunk === 'string' ? Buffer.byteLength(chunk, coding) : chunk.byteLength
}
