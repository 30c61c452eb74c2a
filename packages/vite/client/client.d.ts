declare module 'virtual:serve-dist/client' {
  /** How the page looks for another build. */
  export interface WatchOptions {
    /**
     * Milliseconds between looks while the tab is visible; it is looked each time that the tab becomes visible anyway.
     *
     * @default none
     */
    readonly interval?: number
  }

  /**
   * Dispatches `serve-dist:update` on `window` when the server has another build than the one that the page was loaded
   * from, once for each. It does nothing in development, in workers and on servers.
   *
   * @returns what ends it.
   */
  export function watchForUpdates(options?: WatchOptions): () => void
}

interface WindowEventMap {
  /** The server has another build than the one that the page was loaded from. */
  readonly 'serve-dist:update': CustomEvent<{ readonly buildId: string }>
}
