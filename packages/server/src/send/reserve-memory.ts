/** Bytes that answers under way may hold together for clients that do not keep up, beside the least for each. */
const budget = 32 * 1024 * 1024

/** Bytes that each answer may hold, however many there are: ten thousand of them are 40 MiB. */
export const minimumReservation = 4096

let held = 0

/** What one answer may hold. */
export interface MemoryReservation {
  readonly bytes: number
  /** Gives all of it back, whoever calls it first. */
  readonly release: () => void
}

/**
 * Takes memory for an answer that is sent in pieces: as much as is wanted while little is held, and less for each of
 * many, so that clients which stall cost no more all together.
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
