import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { extendVary } from '../protocol/field-list.ts'
import { chooseLiveCoding, createLiveEncoder, liveCodings, type LiveEncoder } from './live-coding.ts'
import { intercept, markEnded, rejectWriteAfterEnd } from '../send/intercept.ts'

type Callback = (error?: Error | null) => void

/** The headers of `ServerResponse.writeHead`: an object, or a flat list of names and values. */
type HeadFields = OutgoingHttpHeaders | readonly OutgoingHttpHeader[]

/**
 * Compresses an application's response while it is sent, if that is allowed and useful. It flushes at the end of each turn
 * of the event loop, so that streaming continues to work.
 */
export function compressResponse(request: IncomingMessage, response: ServerResponse): void {
  let isDecided = false
  let encoder: LiveEncoder | undefined
  let isEnded = false
  let isFlushDue = false
  let isOurDrain = false

  const original = intercept(response, {
    writeHead(status: number, reasonOrFields?: string | HeadFields, fields?: HeadFields) {
      const reason = typeof reasonOrFields === 'string' ? reasonOrFields : undefined
      const given = typeof reasonOrFields === 'object' ? reasonOrFields : fields
      if (given !== undefined) setFields(response, given)
      if (!response.headersSent) decideOnce(status)
      return original('writeHead', status, ...(reason === undefined ? [] : [reason]))
    },
    write(chunk: string | Uint8Array, codingOrCallback?: BufferEncoding | Callback, callback?: Callback) {
      const coding = typeof codingOrCallback === 'string' ? codingOrCallback : 'utf8'
      const done = typeof codingOrCallback === 'function' ? codingOrCallback : callback
      if (!isDecided && !response.headersSent) response.writeHead(response.statusCode)
      if (encoder === undefined) return original('write', chunk, coding, done)
      if (isEnded) {
        rejectWriteAfterEnd(response, [done])
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
        rejectWriteAfterEnd(response, [done])
        return response
      }
      // Now the length is known. Without an encoder, Node can send it.
      if (!response.headersSent) decideOnce(response.statusCode, lengthOf(chunk, coding))
      // Node reports a second `end`.
      if (encoder === undefined || response.writableFinished) return original('end', chunk, coding, done)
      if (done !== undefined) response.once('finish', done)
      if (isEnded) return response
      isEnded = true
      // Like Node's own `end`: the head is complete, and so is the response.
      if (!response.headersSent) original('writeHead', response.statusCode)
      if (chunk === null) encoder.stream.end()
      else encoder.stream.end(chunk, coding)
      return response
    },
  })
  // React and other libraries call `flush`, if it exists, when the client should see a chunk.
  Object.assign(response, { flush: () => encoder?.flush() })
  markEnded(response, () => isEnded)

  function decideOnce(status: number, length?: number): void {
    if (isDecided) return
    isDecided = true
    const field = (name: string): string | undefined => response.getHeader(name)?.toString()
    const contentLength = field('Content-Length')
    const entityTag = field('ETag')
    const { varies, isWeak, coding } = chooseLiveCoding(
      {
        status,
        acceptEncoding: request.headers['accept-encoding']?.toString(),
        mediaType: field('Content-Type'),
        ifNoneMatch: request.headers['if-none-match'],
        entityTag,
        // The length of a 304 is not that of the full response.
        contentLength: contentLength === undefined && status !== 304 ? length : numberOf(contentLength),
        contentEncoding: field('Content-Encoding'),
        contentRange: field('Content-Range'),
        cacheControl: field('Cache-Control'),
      },
      liveCodings,
    )
    if (varies) response.setHeader('Vary', extendVary(field('Vary') ?? '', 'Accept-Encoding'))
    if (isWeak && entityTag?.startsWith('"') === true) response.setHeader('ETag', `W/${entityTag}`)
    if (coding === undefined) return
    response.setHeader('Content-Encoding', coding)
    response.removeHeader('Content-Length')
    if (request.method !== 'HEAD') encoder = start(createLiveEncoder(coding))
  }

  function start(started: LiveEncoder): LiveEncoder {
    const { stream } = started
    stream.on('data', (bytes: Buffer) => {
      if (original('write', bytes) !== true) stream.pause()
    })
    response.on('drain', () => {
      if (!isOurDrain) stream.resume()
    })
    // The application waits for the encoder, not for the socket.
    stream.on('drain', () => {
      isOurDrain = true
      response.emit('drain')
      isOurDrain = false
    })
    stream.once('end', () => original('end'))
    stream.once('error', (error) => response.destroy(error))
    response.once('close', () => stream.destroy())
    return started
  }

  /** Flushes once for all chunks of a turn, because each flush adds a few bytes. */
  function flushSoon(started: LiveEncoder): void {
    if (isFlushDue) return
    isFlushDue = true
    setImmediate(() => {
      isFlushDue = false
      if (!started.stream.destroyed && !started.stream.writableEnded) started.flush()
    })
  }
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}

function lengthOf(chunk: string | Uint8Array | null, coding: BufferEncoding): number {
  if (chunk === null) return 0
  return typeof chunk === 'string' ? Buffer.byteLength(chunk, coding) : chunk.byteLength
}

/** Sets the headers of `writeHead` one by one, so that they can be read and changed. */
function setFields(response: ServerResponse, fields: HeadFields): void {
  const given = new Set<string>()
  for (const [name, value] of isList(fields) ? pairsOf(fields) : Object.entries(fields)) {
    if (value === undefined) continue
    const key = name.toLowerCase()
    // Only a list can repeat a name, and then each value is a separate line.
    if (given.has(key)) response.appendHeader(name, typeof value === 'number' ? String(value) : value)
    else response.setHeader(name, value)
    given.add(key)
  }
}

function isList(fields: HeadFields): fields is readonly OutgoingHttpHeader[] {
  return Array.isArray(fields)
}

function pairsOf(list: readonly OutgoingHttpHeader[]): [string, OutgoingHttpHeader | undefined][] {
  return list.flatMap((name, index) => (index % 2 === 0 ? [[String(name), list[index + 1]]] : []))
}
