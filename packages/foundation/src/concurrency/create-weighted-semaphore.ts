/** Runs work when the semaphore has enough capacity. @default weight 1 */
export type WeightedSemaphore = <Result>(work: () => Promise<Result>, weight?: number) => Promise<Result>

/**
 * Creates a semaphore that limits the total weight of concurrent work. Work starts in the order of the calls. Work that
 * weighs more than `limit` runs alone.
 */
export function createWeightedSemaphore(limit: number): WeightedSemaphore {
  let held = 0
  const waiting: { readonly weight: number; readonly begin: () => void }[] = []

  function beginNext(): void {
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      if (held > 0 && held + next.weight > limit) return
      waiting.shift()
      held += next.weight
      next.begin()
    }
  }

  return async (work, weight = 1) => {
    await new Promise<void>((begin) => {
      waiting.push({ weight, begin })
      beginNext()
    })
    try {
      return await work()
    } finally {
      held -= weight
      beginNext()
    }
  }
}
