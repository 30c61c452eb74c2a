import type { Manifest } from '@serve-dist/manifest'
import {
  type DeltasDocument,
  fetchBlob,
  type History,
  type NamedBlob,
  readDeltas,
  type ReadHistory,
  readGeneration,
  readHistory,
  type StoreBackend,
} from '@serve-dist/store'

/** The store operations that a mirror uses. */
export interface Upstream {
  /** For messages. */
  readonly place: string
  /** See `readHistory`. */
  readHistory(unless?: string): Promise<ReadHistory | 'unchanged' | undefined>
  /** See `readGeneration`. */
  readGeneration(id: string): Promise<Manifest>
  /** See `readDeltas`. */
  readDeltas(id: string): Promise<DeltasDocument | undefined>
  /** See `fetchBlob`. */
  fetchBlob(blob: NamedBlob, to: string): Promise<'fetched' | 'missing'>
}

/**
 * Accesses a store from this process.
 *
 * @param signal - cancels all requests to the store.
 */
export function upstreamOf(store: StoreBackend, signal?: AbortSignal): Upstream {
  /** The last history, which has the keys of documents and blobs. */
  let history: History | undefined
  return {
    place: store.place,
    async readHistory(unless) {
      const read = await readHistory(store, unless, { signal })
      if (typeof read === 'object') ({ history } = read)
      return read
    },
    readGeneration: (id) => readGeneration(store, id, { history, signal }),
    readDeltas: (id) => readDeltas(store, id, { history, signal }),
    fetchBlob: (blob, to) => fetchBlob(store, blob, to, { history, signal }),
  }
}
