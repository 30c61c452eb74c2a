/** Bytes of a body in memory that are encrypted at a time: four records of TLS. */
const sliceSize = 64 * 1024

/** Where slices go. */
export interface SliceTarget {
  readonly write: (slice: Uint8Array, done: (error?: Error | null) => void) => void
  readonly end: (slice: Uint8Array) => void
}

/**
 * Whether a body is to be written in slices. Over TLS all that Node is handed in one piece is encrypted at
 * once: a thousand readers that stall would cost a thousand copies of it.
 */
export function wantsSlices(body: unknown): body is Uint8Array {
  return body instanceof Uint8Array && body.length > sliceSize
}

/** Writes a body in slices, each when the one before has left. */
export function writeSlices(body: Uint8Array, { write, end }: SliceTarget): void {
  let position = 0
  const writeNext = (error?: Error | null): void => {
    // The client has gone, which the response tells by itself.
    if (error) return
    const slice = body.subarray(position, position + sliceSize)
    position += slice.length
    if (position < body.length) write(slice, writeNext)
    else end(slice)
  }
  writeNext()
}
