import type { IncomingMessage } from 'node:http'
import { reserveMemory } from '../../send/reserve-memory.ts'

/** The maximum number of bytes that are encrypted or passed to nghttp2 at a time: four TLS records. */
export const sliceSize: number = 64 * 1024

/** A call of a response: the method and its arguments. */
type Call = readonly [method: 'write' | 'end', ...given: readonly unknown[]]

/** A response whose body is written in slices. */
export interface SlicedResponse {
  readonly req: Pick<IncomingMessage, 'method'>
  off(event: 'close', listener: () => void): unknown
  once(event: 'close', listener: () => void): unknown
}

/** The writer of the slices. */
export interface SliceWriter {
  /** Calls the method of Node's class. */
  readonly call: (...call: Call) => unknown
  /** The maximum number of bytes to pass on at a time. */
  readonly size: number
  /** Returns the number of bytes that may be passed on now. */
  readonly room: () => number
  /** Called after the last slice is written and no call is pending. */
  readonly drained?: () => void
}

/** Calls that are delayed until the previous slices are written. */
const laterCalls = new WeakMap<object, Call[]>()

/**
 * Writes or ends a response. Large bodies are written in slices, one after the other. Over TLS, Node
 * encrypts everything that it gets at once: a thousand stalled clients would cost a thousand copies. Over
 * HTTP/2, Node would not report that a slow client reads.
 *
 * @returns whether there is room for more, like `write`.
 */
export function writeInSlices(response: SlicedResponse, made: Call, writer: SliceWriter): boolean {
  const [method, body, ...rest] = made
  const later = laterCalls.get(response)
  if (later !== undefined) {
    // For a write after the end, Node reports the error later.
    later.push(made)
    return false
  }
  const hasRoom = !(body instanceof Uint8Array) || body.length <= writer.room()
  if (hasRoom || response.req.method === 'HEAD') return writer.call(...made) === true
  const waiting: Call[] = [made]
  laterCalls.set(response, waiting)
  const done = rest.find((each): each is (error?: Error | null) => void => typeof each === 'function')
  const share = reserveMemory(writer.size)
  response.once('close', share.release)
  let position = 0
  const writeNext = (error?: Error | null): void => {
    // The client has disconnected, and `close` may have been emitted already.
    if (error) {
      share.release()
      done?.(error)
    } else if (position < body.length) {
      const slice = body.subarray(position, position + share.bytes)
      position += slice.length
      writer.call('write', slice, writeNext)
    } else {
      laterCalls.delete(response)
      response.off('close', share.release)
      share.release()
      if (method === 'end') writer.call('end', ...(done === undefined ? [] : [done]))
      else done?.()
      for (const call of waiting.slice(1)) writeInSlices(response, call, writer)
      if (!hasPendingSlices(response)) writer.drained?.()
    }
  }
  writeNext()
  return false
}

/** Returns whether slices of a response are pending. */
export function hasPendingSlices(response: object): boolean {
  return laterCalls.has(response)
}

/** Returns whether a response was ended but slices of its body are pending. */
export function isEndedWithPendingSlices(response: object): boolean {
  return laterCalls.get(response)?.some(([method]) => method === 'end') === true
}
