/** What operators see of a store of builds. */
export interface StoreView {
  /** As they named it. */
  readonly place: string
  readonly state: StoreState
  readonly figures: StoreFigures
}

/** Whether a store answers; if not, since when (ISO 8601), and why. */
export type StoreState =
  | { readonly reachable: true }
  | { readonly reachable: false; readonly since: string; readonly problem: string }

/** What this process has asked of a store, and what it has of it. */
export interface StoreFigures {
  /** Looks at what is current. */
  readonly looks: number
  readonly fetchedBlobs: number
  readonly fetchedBytes: number
  /** Bytes of blobs in the cache on this machine. */
  readonly cacheBytes: number
}
