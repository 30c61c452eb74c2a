/**
 * Runs `work` for every item, with at most `limit` calls at once. After a failure, it starts no further item and throws
 * the failure when running calls have ended.
 */
export async function forEachConcurrently<Item>(
  items: Iterable<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
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
