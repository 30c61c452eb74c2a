/** Runs work when there is room for it. */
export type Gate = <Result>(weight: number, work: () => Promise<Result>) => Promise<Result>

/** Lets run at once what weighs no more than `limit` together; what weighs more runs alone. */
export function createGate(limit: number): Gate {
  let held = 0
  const waiting: (() => void)[] = []
  return async (weight, work) => {
    const isFull = (): boolean => held > 0 && held + weight > limit
    while (isFull()) await new Promise<void>((resolve) => waiting.push(resolve))
    held += weight
    try {
      return await work()
    } finally {
      held -= weight
      for (const wake of waiting.splice(0)) wake()
    }
  }
}
