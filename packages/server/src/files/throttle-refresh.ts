/** The minimum interval between refreshes, and the maximum time that a caller waits, in milliseconds. */
export interface RefreshLimits {
  /** @default 1000 */
  readonly interval?: number
  /** @default 500 */
  readonly patience?: number
}

/**
 * Shares refreshes between callers. Callers wait for a running refresh, but not longer than `patience`.
 * Within `interval` after its start, callers do not wait. Requests for missing files therefore cause at
 * most one refresh per second.
 *
 * @param refresh - its failure does not reach the callers.
 * @param now - a monotonic clock in milliseconds.
 */
export function throttleRefresh(
  refresh: () => Promise<unknown>,
  { interval = 1000, patience = 500 }: RefreshLimits = {},
  now: () => number = () => performance.now(),
): () => Promise<void> {
  let begun = Number.NEGATIVE_INFINITY
  let waiting: Promise<void> | undefined
  let isLooking = false

  function begin(): Promise<void> {
    begun = now()
    isLooking = true
    return new Promise((resolve) => {
      const timer = setTimeout(end, patience)
      function end(): void {
        clearTimeout(timer)
        waiting = undefined
        resolve()
      }
      const over = (): void => {
        isLooking = false
        end()
      }
      refresh().then(over, over)
    })
  }

  return async () => {
    if (waiting === undefined && !isLooking && now() - begun >= interval) waiting = begin()
    await waiting
  }
}
