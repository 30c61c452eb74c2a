import { closeDescriptor } from './open-regular-file.ts'

/** The right to read from a kept file until it is released. */
export interface FileLease {
  readonly descriptor: number
  /** May be called again. */
  release(): void
}

/**
 * A file that stays open as long as its site is served, and after that as long as somebody reads from it:
 * whoever removes it or puts another in its place changes nothing for answers that were decided before.
 */
export interface KeptFile {
  /** Taken in the same turn of the event loop as the decision to send the file; `undefined` once it is closed. */
  lease(): FileLease | undefined
  /** Closes the file when nobody has a lease of it any more. */
  retire(): void
}

/** Takes charge of an open descriptor. */
export function keepFile(descriptor: number): KeptFile {
  let leases = 0
  let isRetired = false
  let isClosed = false

  function closeIfUnused(): void {
    if (!isRetired || isClosed || leases > 0) return
    isClosed = true
    // Closing a file that was only read has nothing left to fail that anybody could mend.
    closeDescriptor(descriptor).catch(() => {})
  }

  return {
    lease() {
      if (isClosed) return undefined
      leases += 1
      let isReleased = false
      return {
        descriptor,
        release() {
          if (isReleased) return
          isReleased = true
          leases -= 1
          closeIfUnused()
        },
      }
    },
    retire() {
      isRetired = true
      closeIfUnused()
    },
  }
}
