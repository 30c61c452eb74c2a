import type { StoreBackend } from './backend.ts'

/** A store that counts what is asked of it, and knows its time. */
export interface ObservedStore extends StoreBackend {
  /** So many were sent; a list counts as one for each 1,000 objects, as S3 answers them. */
  readonly requests: number
  /** The store's own time, by its last answer that had one; before that, of 1970. */
  now(): number
}

const objectsInList = 1000

/** Counts from now on. */
export function observeStore(store: StoreBackend): ObservedStore {
  let requests = 0
  // The store's time less that of this process, which never jumps.
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
      await store.delete(key, options)
    },
    async honoursConditions(options) {
      requests += 1
      return await store.honoursConditions(options)
    },
  }
}
