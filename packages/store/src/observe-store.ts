import type { StoreBackend } from './backend.ts'

/** A store that counts its requests and knows the store's time. */
export interface ObservedStore extends StoreBackend {
  /** The number of requests. A list counts once for each page of 1,000 objects (as in S3), and at least once. */
  readonly requests: number
  /** Returns the store's time, derived from its last response. Before the first response, the time is in 1970. */
  now(): number
}

const objectsInList = 1000

/** Wraps a store. */
export function observeStore(store: StoreBackend): ObservedStore {
  let requests = 0
  // The store's time minus the monotonic clock of this process.
  let ahead = -performance.now()
  const note = <Answer extends string | { readonly time: number } | undefined>(answer: Answer): Answer => {
    if (typeof answer === 'object') ahead = answer.time - performance.now()
    return answer
  }
  return {
    place: store.place,
    get requests() {
      return requests
    },
    now: () => ahead + performance.now(),
    async read(key, options) {
      requests += 1
      return note(await store.read(key, options))
    },
    async *list(prefix, options) {
      requests += 1
      let objects = 0
      for await (const object of store.list(prefix, options)) {
        if (objects > 0 && objects % objectsInList === 0) requests += 1
        objects += 1
        yield object
      }
    },
    async put(key, content, options) {
      requests += 1
      return note(await store.put(key, content, options))
    },
    async delete(key, options) {
      requests += 1
      return await store.delete(key, options)
    },
    async honoursConditions(options) {
      requests += 1
      return await store.honoursConditions(options)
    },
  }
}
