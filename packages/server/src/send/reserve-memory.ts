/** Bytes that running answers may hold together for slow clients, besides the minimum of each. */
const budget = 32 * 1024 * 1024

/** Bytes that each answer may always hold: 40 MiB for ten thousand answers. */
export const minimumReservation = 4096

let held = 0

/** The memory of one answer. */
export interface MemoryReservation {
  readonly bytes: number
  /** Releases all of it; idempotent. */
  readonly release: () => void
}

/**
 * Reserves memory for an answer that is sent in pieces. It grants the wanted amount while little memory is
 * in use, and less under load, to bound the total cost of stalled clients.
 */
export function reserveMemory(wanted: number): MemoryReservation {
  const bytes = Math.min(wanted, Math.max(minimumReservation, Math.floor((budget - held) / 16)))
  let taken = bytes
  held += taken
  const release = (): void => {
    held -= taken
    taken = 0
  }
  return { bytes, release }
}
