import type { StoredBytes } from '../site/site.ts'

/** The right to read from a kept file until it is released. */
export interface FileLease {
  readonly descriptor: number
  /** May be called again. */
  release(): void
}

interface KeptFile {
  readonly descriptor: number
  readonly close: () => void
  leases: number
  isRetired: boolean
}

/**
 * Files that stay open as long as their site is served, and after that as long as somebody reads from them: removing
 * or replacing one changes nothing for answers that were decided before. They stand beside the site, which is data.
 */
const keptFiles = new WeakMap<StoredBytes, KeptFile>()

/** Takes charge of an open descriptor. */
export function keepFileOpen(stored: StoredBytes, descriptor: number, close: () => void): void {
  keptFiles.set(stored, { descriptor, close, leases: 0, isRetired: false })
}

/** Taken in the same turn of the event loop as the decision to send the file; `undefined` where it is not open. */
export function leaseFile(stored: StoredBytes): FileLease | undefined {
  const kept = keptFiles.get(stored)
  if (kept === undefined) return undefined
  kept.leases += 1
  let isReleased = false
  return {
    descriptor: kept.descriptor,
    release() {
      if (isReleased) return
      isReleased = true
      kept.leases -= 1
      closeIfUnused(stored, kept)
    },
  }
}

/** Whether a file stays open. */
export function isKeptOpen(stored: StoredBytes): boolean {
  return keptFiles.get(stored)?.isRetired === false
}

/** Closes the file, if it is open, when nobody has a lease of it any more. */
export function retireFile(stored: StoredBytes): void {
  const kept = keptFiles.get(stored)
  if (kept === undefined) return
  kept.isRetired = true
  closeIfUnused(stored, kept)
}

function closeIfUnused(stored: StoredBytes, kept: KeptFile): void {
  if (!kept.isRetired || kept.leases > 0) return
  keptFiles.delete(stored)
  kept.close()
}
