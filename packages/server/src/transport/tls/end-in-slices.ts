import type { IncomingMessage } from 'node:http'

/** Bytes of a body in memory that are encrypted at a time: four records of TLS. */
const sliceSize = 64 * 1024

/** Calls of `end` that came while slices of a response's body were still to be written. */
const laterEnds = new WeakMap<object, (() => void)[]>()

/**
 * Ends a response; a large body is written in slices, each when the one before has left. Over TLS, Node encrypts at once
 * all that it gets in one piece: a thousand readers that stall would cost a thousand copies of it.
 *
 * @param given - what `end` was called with.
 * @param call - calls the method of Node's class.
 */
export function endInSlices(
  response: { readonly req: Pick<IncomingMessage, 'method'> },
  given: readonly unknown[],
  call: (method: 'write' | 'end', ...given: readonly unknown[]) => void,
): void {
  const [body, ...rest] = given
  const waiting = laterEnds.get(response)
  if (waiting !== undefined) {
    // Node says then that it comes too late, and nothing gets between the slices.
    waiting.push(() => call('end', ...given))
    return
  }
  if (!(body instanceof Uint8Array) || body.length <= sliceSize || response.req.method === 'HEAD') {
    call('end', ...given)
    return
  }
  const later: (() => void)[] = []
  laterEnds.set(response, later)
  let position = 0
  const writeNext = (error?: Error | null): void => {
    // The client has gone, which the response tells by itself.
    if (error) return
    const slice = body.subarray(position, position + sliceSize)
    position += slice.length
    if (position < body.length) {
      call('write', slice, writeNext)
      return
    }
    laterEnds.delete(response)
    call('end', slice, ...rest)
    for (const end of later) end()
  }
  writeNext()
}

/** Whether a response was ended, though slices of its body are still to be written. */
export function isBeingSliced(response: object): boolean {
  return laterEnds.has(response)
}
