import type { StoredBytes } from '../site/site.ts'

/** The right to read from an open file until it is released. */
export interface FileLease {
  readonly descriptor: number
  /** Idempotent. */
  release(): void
}

interface KeptFile {
  readonly descriptor: number
  readonly close: () => void
  leases: number
  isRetired: boolean
}

/**
 * Files that stay open while their site is served, and then until their last reader is done. Deleting or
 * replacing such a file does not affect running answers. Kept outside of the site, which is plain data.
 */
const keptFiles = new WeakMap<StoredBytes, KeptFile>()

/** Registers an open descriptor, which `close` will close. */
export function keepFileOpen(stored: StoredBytes, descriptor: number, close: () => void): void {
  keptFiles.set(stored, { descriptor, close, leases: 0, isRetired: false })
}

/**
 * Leases an open file; returns `undefined` if it is not open. Call it in the same turn of the event loop as
 * the decision to send the file.
 */
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

export function isKeptOpen(stored: StoredBytes): boolean {
  return keptFiles.get(stored)?.isRetired === false
}

/** Closes an open file as soon as its last lease is released. */
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
