import type { Manifest } from '@serve-dist/manifest'
import {
  type DeltasDocument,
  fetchBlob,
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
  return {
    place: store.place,
    readHistory: (unless) => readHistory(store, unless, { signal }),
    readGeneration: (id) => readGeneration(store, id, { signal }),
    readDeltas: (id) => readDeltas(store, id, { signal }),
    fetchBlob: (blob, to) => fetchBlob(store, blob, to, { signal }),
  }
}
