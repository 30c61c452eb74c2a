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

/** What was asked of responses since they were ended, while slices of their bodies are still to be written. */
const latecomers = new WeakMap<object, (() => void)[]>()

/** Writes the body that a response was ended with in slices, each when the one before has left. */
export function writeSlices(response: object, body: Uint8Array, { write, end }: SliceTarget): void {
  const late: (() => void)[] = []
  latecomers.set(response, late)
  let position = 0
  const writeNext = (error?: Error | null): void => {
    // The client has gone, which the response tells by itself.
    if (error) return
    const slice = body.subarray(position, position + sliceSize)
    position += slice.length
    if (position < body.length) {
      write(slice, writeNext)
      return
    }
    latecomers.delete(response)
    end(slice)
    for (const act of late) act()
  }
  writeNext()
}

/** Whether a response was ended, though slices of its body are still to be written. */
export function isBeingSliced(response: object): boolean {
  return latecomers.has(response)
}

/**
 * Lets what is asked of a response that is being sliced wait until its last slice is handed over: Node then says that
 * it comes too late, and nothing gets between the slices.
 */
export function actAfterSlices(response: object, act: () => void): void {
  latecomers.get(response)?.push(act)
}

/** Makes the responses of a class tell that they were ended from the moment that they were. */
export function tellEndOfSlices(prototype: object): void {
  Object.defineProperty(prototype, 'writableEnded', {
    configurable: true,
    get(this: object): unknown {
      return isBeingSliced(this) || Reflect.get(Object.getPrototypeOf(prototype), 'writableEnded', this)
    },
  })
}
