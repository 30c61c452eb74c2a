/** How often a look is made, and how long somebody waits for it, in milliseconds. */
export interface RefreshLimits {
  /** @default 1000 */
  readonly interval?: number
  /** @default 500 */
  readonly patience?: number
}

/**
 * Lets all who ask share one look: who asks while it is under way waits for it, though not beyond its time, and who asks
 * soon after its beginning waits for nothing. So clients who ask for what is not there cause one look a second at most.
 *
 * @param refresh - its failure is its own concern: who asks is answered all the same.
 * @param now - milliseconds of a clock that never goes back.
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
