import type { KeptFile } from '../site/site.ts'
import { closeDescriptor } from './open-regular-file.ts'

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
