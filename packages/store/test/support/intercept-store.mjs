/**
 * Wraps a store and calls `step` before and after each method.
 *
 * @param {import('@serve-dist/store').StoreBackend} store
 * @param {(verb: string) => unknown} step
 * @returns {import('@serve-dist/store').StoreBackend}
 */
export function interceptStore(store, step) {
  return {
    ...store,
    async read(key, more) {
      await step(`read ${key}`)
      const answer = await store.read(key, more)
      await step('has read')
      return answer
    },
    async *list(prefix) {
      await step(`list ${prefix}`)
      yield* store.list(prefix)
      await step('has listed')
    },
    async put(key, content, more) {
      await step(`put ${key}`)
      const answer = await store.put(key, content, more)
      await step('has put')
      return answer
    },
    async delete(key, more) {
      await step(`delete ${key}`)
      const answer = await store.delete(key, more)
      await step('has deleted')
      return answer
    },
  }
}
