import type { IncomingMessage } from 'node:http'
import { reserveMemory } from '../../send/reserve-memory.ts'

/** Bytes of a body that are encrypted, or handed to nghttp2, at a time, at most: four records of TLS. */
export const sliceSize: number = 64 * 1024

/** What a response was asked to do: its method, and what it was called with. */
type Call = readonly [method: 'write' | 'end', ...given: readonly unknown[]]

/** A response of which slices are still to be written. */
export interface SlicedResponse {
  readonly req: Pick<IncomingMessage, 'method'>
  off(event: 'close', listener: () => void): unknown
  once(event: 'close', listener: () => void): unknown
}

/** How slices of a response are written. */
export interface SliceWriter {
  /** Calls the method of Node's class. */
  readonly call: (...call: Call) => unknown
  /** Bytes to hand over at a time, at most. */
  readonly size: number
  /** Bytes that may be handed over now. */
  readonly room: () => number
  /** Called when the last slice has left, and nothing else is to be written. */
  readonly drained?: () => void
}

/** Calls that came while slices of a response were still to be written. */
const laterCalls = new WeakMap<object, Call[]>()

/**
 * Writes or ends a response; what is too large is written in slices, each when the one before has left. Over TLS, Node
 * encrypts at once all that it gets in one piece: a thousand readers that stall would cost a thousand copies of it. Over
 * HTTP/2 it would not tell that a slow reader takes some of it.
 *
 * @returns whether there is room for more, as `write` says it.
 */
export function writeInSlices(response: SlicedResponse, made: Call, writer: SliceWriter): boolean {
  const [method, body, ...rest] = made
  const later = laterCalls.get(response)
  if (later !== undefined) {
    // Behind an end, Node says then that it comes too late.
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
    // The client has gone, which the response tells by itself; its `close` may be over.
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

/** Whether slices of a response are still to be written. */
export function hasPendingSlices(response: object): boolean {
  return laterCalls.has(response)
}

/** Whether a response was ended, though slices of its body are still to be written. */
export function isEndedWithPendingSlices(response: object): boolean {
  return laterCalls.get(response)?.some(([method]) => method === 'end') === true
}
