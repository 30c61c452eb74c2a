import { formatBytes } from '@serve-dist/foundation/text/byte-size'

/** Bytes that a process may have, and those that it has. */
export interface ProcessMemory {
  /** 0 where nobody says. */
  readonly limit: number
  readonly used: number
}

/**
 * A line about bodies for which the memory of the container may not last: the system kills a process that takes more.
 * To be said before they are read. `undefined` where they have room.
 */
export function describeMemory(
  bytesToHold: number,
  { limit, used }: ProcessMemory = memoryOfProcess(),
): string | undefined {
  if (limit === 0 || bytesToHold === 0 || bytesToHold + used <= limit) return undefined
  return `this process may have ${formatBytes(limit)} of memory, uses ${formatBytes(used)}, and the bodies of this build take ${formatBytes(bytesToHold)} more: the system may kill it; lower --memory-budget (memoryBudget), or raise the limit of the container`
}

function memoryOfProcess(): ProcessMemory {
  try {
    return { limit: process.constrainedMemory(), used: process.memoryUsage().rss }
  } catch {
    // Deno says so to programs with a permission of their own alone.
    return { limit: 0, used: 0 }
  }
}
