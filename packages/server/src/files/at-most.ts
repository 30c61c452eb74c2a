/** Runs tasks, so many at once; the others begin in the order in which they came. */
export function atMost(limit: number): <Result>(task: () => Promise<Result>) => Promise<Result> {
  let running = 0
  const waiting: (() => void)[] = []

  function end(): void {
    const next = waiting.shift()
    // Who waits takes the place of the one that ends.
    if (next === undefined) running -= 1
    else next()
  }

  return async (task) => {
    if (running < limit) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await task()
    } finally {
      end()
    }
  }
}
