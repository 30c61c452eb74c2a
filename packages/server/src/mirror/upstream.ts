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

/** What a mirror is made from. */
export interface Upstream {
  /** For messages. */
  readonly place: string
  /** As `readHistory`. */
  readHistory(unless?: string): Promise<ReadHistory | 'unchanged' | undefined>
  /** As `readGeneration`. */
  readGeneration(id: string): Promise<Manifest>
  /** As `readDeltas`. */
  readDeltas(id: string): Promise<DeltasDocument | undefined>
  /** As `fetchBlob`. */
  fetchBlob(blob: NamedBlob, to: string): Promise<'fetched' | 'missing'>
}

/**
 * A store that this process asks itself.
 *
 * @param signal - ends all that is asked of it.
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
