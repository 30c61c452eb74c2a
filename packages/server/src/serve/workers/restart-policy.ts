/** The lifetime in milliseconds after which the count of failures starts again. */
const longLife = 30_000

const shortestDelay = 100
const longestDelay = 10_000

/** Failures of a worker in a row, while no worker serves, after which the server gives up. */
export const crashLoopLength = 5

/** Returns the number of short-lived workers in a row, after one with this lifetime in milliseconds. */
export function countFailures(before: number, lifetime: number): number {
  return lifetime >= longLife ? 1 : before + 1
}

/** Returns the milliseconds until the next start: 100, doubled each time, at most 10 seconds. */
export function restartDelay(failures: number): number {
  return Math.min(longestDelay, shortestDelay * 2 ** (failures - 1))
}
