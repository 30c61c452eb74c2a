/** Milliseconds that a worker has to live for its end to count as the first one again. */
const longLife = 30_000

const shortestDelay = 100
const longestDelay = 10_000

/** Workers in the same place that end one after the other, while nobody serves, before it is given up. */
export const crashLoopLength = 5

/** How many workers in a row ended soon, the last of which has lived for so many milliseconds. */
export function countFailures(before: number, lifetime: number): number {
  return lifetime >= longLife ? 1 : before + 1
}

/** Milliseconds until another worker starts: 100, then twice as long each time, 10 seconds at most. */
export function restartDelay(failures: number): number {
  return Math.min(longestDelay, shortestDelay * 2 ** (failures - 1))
}
