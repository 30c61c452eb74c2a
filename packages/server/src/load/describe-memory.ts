import { formatBytes } from '@serve-dist/foundation/text/byte-size'

/** The memory limit of a process and its usage, in bytes. */
export interface ProcessMemory {
  /** 0 if it is unknown. */
  readonly limit: number
  readonly used: number
}

/**
 * Returns a warning if the bodies exceed the memory of the container, because the system may then kill the process. Call it
 * before they are read.
 */
export function describeMemory(
  bytesToHold: number,
  { limit, used }: ProcessMemory = memoryOfProcess(),
): string | undefined {
  if (limit === 0 || bytesToHold === 0 || bytesToHold + used <= limit) return undefined
  return `this process can use ${formatBytes(limit)} of memory and uses ${formatBytes(used)}, but the bodies of this build need ${formatBytes(bytesToHold)} more. The system may kill the process. Lower --memory-budget (memoryBudget), or raise the limit of the container.`
}

/** Returns the bytes that files which need not be in memory may take: half of what the container has left. */
export function spareMemory({ limit, used }: ProcessMemory = memoryOfProcess()): number {
  return limit === 0 ? Number.POSITIVE_INFINITY : Math.max(0, (limit - used) / 2)
}

function memoryOfProcess(): ProcessMemory {
  try {
    return { limit: process.constrainedMemory(), used: process.memoryUsage().rss }
  } catch {
    // Deno needs a permission for this.
    return { limit: 0, used: 0 }
  }
}
