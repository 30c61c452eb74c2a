import type { HandlerOptions } from './handler-options.ts'
import type { SiteStoreOptions } from './site-store-options.ts'
import { withDefaults } from './with-defaults.ts'

/** What `serve` takes. */
export interface ServeOptions {
  /**
   * The folder that the build was written to.
   * @default 'dist'
   */
  readonly directory?: string
  /**
   * 0 picks a free one.
   * @default 4173
   */
  readonly port?: number
  /** @default '127.0.0.1' */
  readonly host?: string
  /**
   * Milliseconds that answers in flight may take to finish after `close()`; then their sockets are destroyed.
   * @default 10_000
   */
  readonly gracePeriod?: number
  /** How the folder is read. */
  readonly site?: SiteStoreOptions
  /** How requests are answered. */
  readonly handler?: HandlerOptions
  /**
   * A module that answers what the build does not have: it exports, as default or as `handler`, `fetch` or
   * `app`, a Node handler, a function from `Request` to `Response` or a Connect application.
   * @default none: such requests are 404, or get the page that `handler.fallback` names
   */
  readonly ssr?: string
}

/** `ServeOptions` with nothing left open but whether there is an application. */
export type ResolvedServeOptions = Required<Omit<ServeOptions, 'ssr'>> & Pick<ServeOptions, 'ssr'>

/** The defaults of the server; the command's help shows the same. */
export const serveDefaults: Required<Omit<ServeOptions, 'ssr'>> = {
  directory: 'dist',
  port: 4173,
  host: '127.0.0.1',
  gracePeriod: 10_000,
  site: {},
  handler: {},
}

/**
 * Fills in the defaults and checks what is given.
 *
 * @throws TypeError that names the option, what was found and what is expected.
 */
export function resolveServeOptions(options: ServeOptions): ResolvedServeOptions {
  const resolved: ResolvedServeOptions = withDefaults<ResolvedServeOptions>(serveDefaults, options, ['ssr'])
  const { port, host, gracePeriod } = resolved
  // Node takes an empty host for all addresses: too much to be had by an unset variable.
  if (typeof host !== 'string' || host === '') {
    throw new TypeError(
      `host: expected an address such as 127.0.0.1 or 0.0.0.0, found ${JSON.stringify(host)}`,
    )
  }
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new TypeError(`port: expected a whole number from 0 to 65535, found ${port}`)
  }
  if (!(gracePeriod >= 0)) {
    throw new TypeError(`gracePeriod: expected a number of milliseconds, 0 or more, found ${gracePeriod}`)
  }
  return resolved
}
