/** How much may run at once. */
export interface Bounds<Item> {
  readonly tasks: number
  readonly bytes: number
  readonly bytesOf: (item: Item) => number
}

/**
 * Does `work` on every item, in order of the list, never more at once than the bounds allow; an item above
 * the bound of bytes runs alone. After a failure no further item is begun, and the failure is thrown once
 * those that run have ended.
 */
export async function runBounded<Item>(
  items: readonly Item[],
  bounds: Bounds<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  let bytesHeld = 0

  const runOne = async (item: Item, bytes: number): Promise<void> => {
    try {
      await work(item)
    } catch (error) {
      failures.push(error)
    }
    bytesHeld -= bytes
  }

  for (const item of items) {
    const bytes = bounds.bytesOf(item)
    while (running.size > 0 && (running.size >= bounds.tasks || bytesHeld + bytes > bounds.bytes)) {
      await Promise.race(running)
    }
    if (failures.length > 0) break
    bytesHeld += bytes
    const task = runOne(item, bytes).finally(() => running.delete(task))
    running.add(task)
  }
  await Promise.all(running)
  if (failures.length > 0) throw failures[0]
}
