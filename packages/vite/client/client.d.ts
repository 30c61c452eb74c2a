declare module 'virtual:serve-dist/client' {
  /** Options of `watchForUpdates`. */
  export interface WatchOptions {
    /**
     * Milliseconds between checks while the tab is visible. Each time that the tab becomes visible, the page checks as
     * well.
     *
     * @default none
     */
    readonly interval?: number
  }

  /**
   * Dispatches `serve-dist:update` on `window`, once for each build of the server that differs from the page's build.
   * Does nothing in development, in workers and on servers.
   *
   * @returns a function that stops the checks.
   */
  export function watchForUpdates(options?: WatchOptions): () => void
}

interface WindowEventMap {
  /** The server has another build than the page. */
  readonly 'serve-dist:update': CustomEvent<{ readonly buildId: string }>
}
