/** The state of a store of builds, for operators. */
export interface StoreView {
  /** The store's address, as the operator wrote it. */
  readonly place: string
  readonly state: StoreState
  readonly figures: StoreFigures
}

/** Whether the store is reachable; if not, since when (ISO 8601) and why. */
export type StoreState =
  | { readonly reachable: true }
  | { readonly reachable: false; readonly since: string; readonly problem: string }

/** Counters of this process. */
export interface StoreFigures {
  /** The number of times that the current build was checked. */
  readonly looks: number
  readonly fetchedBlobs: number
  readonly fetchedBytes: number
  /** Bytes of blobs in the local cache. */
  readonly cacheBytes: number
}
