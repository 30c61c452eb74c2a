/**
 * Does `work` on every item, at most so many at once. After a failure no further item is begun, and the failure is thrown
 * once those that run have ended.
 */
export async function forEachConcurrently<Item>(
  items: Iterable<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  // All take from one iterator.
  const rest = items[Symbol.iterator]()
  const takeAll = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true && failures.length === 0; next = rest.next()) {
      try {
        await work(next.value)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: limit }, takeAll))
  if (failures.length > 0) throw failures[0]
}
