import { hostList } from '../transport/allow-hosts.ts'
import { type EngineChoice, engineChoices } from '../native/engine-choice.ts'
import { type HandlerOptions, noFolder, resolveHandlerOptions } from '../hosts/handler-options.ts'
import { type ListenAddress, longestSocketPath } from '../transport/listen.ts'
import { checkOperationsOptions, type OperationsOptions } from '../operations/operations-options.ts'
import { OperatorError } from '@serve-dist/manifest'
import { resolveLiveSiteOptions, type LiveSiteOptions } from '../load/load-options.ts'
import type { BuildPlace } from '../load/open-source.ts'
import { storeChecks, type StoreOptions } from '../load/store-options.ts'
import { resolveTlsOptions, type TlsOptions } from '../transport/tls/tls-options.ts'
import { longestTimeout } from '../protocol/connection-limits.ts'
import {
  expecting,
  numberOf,
  oneOf,
  optionsFor,
  portNumber,
  readOptions,
  wholeNumber,
} from '../read-options.ts'

/** What `serve` takes. With `store`, builds come from there, and `directory` must be left out. */
export interface ServeOptions extends Partial<StoreOptions> {
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
  /**
   * `*` listens on all addresses.
   * @default '127.0.0.1'
   */
  readonly host?: string
  /**
   * The path of a unix socket to listen on, instead of a port: 107 bytes at most (macOS: 103).
   * @default none
   */
  readonly socket?: string
  /**
   * The permissions of the socket's file.
   * @default 0o660
   */
  readonly socketMode?: number
  /**
   * The descriptor of a socket that somebody else has opened, to listen on instead of a port.
   * @default none
   */
  readonly descriptor?: number
  /**
   * Milliseconds that answers in flight may take to finish after `close()`; then their sockets are destroyed.
   * @default 10_000
   */
  readonly gracePeriod?: number
  /** How the folder is read. */
  readonly site?: LiveSiteOptions
  /** How requests are answered. */
  readonly handler?: HandlerOptions
  /**
   * A module that answers what the build does not have: it exports, as default or as `handler`, `fetch` or
   * `app`, a Node handler, a function from `Request` to `Response` or a Connect application.
   * @default none: such requests are 404, or get the page that `handler.fallback` names
   */
  readonly ssr?: string
  /**
   * A certificate and its key: speak TLS, HTTP/2 and HTTP/1.1 on one port.
   * @default none: plain HTTP/1.1
   */
  readonly tls?: TlsOptions
  /** What operators see: an access log, probes and metrics. */
  readonly operations?: OperationsOptions
  /**
   * The hosts that are served, as `example.com` or `*.example.com`; requests for others are 421.
   * @default all
   */
  readonly allowHosts?: readonly string[]
  /**
   * Who answers the build's files: `native` the addon of `@serve-dist/engine`, on threads of its own; `node` this
   * process's JavaScript; `auto` the addon where it loads and the other options allow it. Answers are the same.
   * @default 'auto'
   */
  readonly engine?: EngineChoice
}

/** Options that have no default. */
type OptionalName = 'ssr' | 'tls' | 'socket' | 'descriptor' | 'allowHosts' | keyof StoreOptions

/** `ServeOptions` with every default filled in. */
export type ResolvedServeOptions = Required<Omit<ServeOptions, OptionalName>> &
  Pick<ServeOptions, OptionalName> & { readonly address: ListenAddress }

/** The defaults of the server; the command's help shows the same. */
export const serveDefaults: Required<Omit<ServeOptions, OptionalName>> = {
  directory: 'dist',
  port: 4173,
  host: '127.0.0.1',
  socketMode: 0o660,
  gracePeriod: 10_000,
  site: {},
  handler: {},
  operations: {},
  engine: 'auto',
}

/**
 * Fills in the defaults and checks what is given.
 *
 * @throws OperatorError that lists every wrong option, with what was found and what is expected.
 */
export function resolveServeOptions(options: ServeOptions): ResolvedServeOptions {
  const resolved = readOptions<Omit<ResolvedServeOptions, 'address'>>(options, serveDefaults, checks)
  const problems = contradictionsOf(options)
  if (problems.length > 0) throw new OperatorError('SD_OPTION_INVALID', problems)
  const { gracePeriod, tls } = resolved
  return {
    ...resolved,
    // Node treats a longer timeout as 0.
    gracePeriod: Math.min(gracePeriod, longestTimeout),
    address: addressOf(resolved),
    ...(tls !== undefined && { tls: resolveTlsOptions(tls) }),
  }
}

/** A store has no folder of a build, and a folder no cache. */
function contradictionsOf(options: ServeOptions): readonly string[] {
  const { store, directory, handler } = options
  if (store === undefined) {
    return (['storeCache', 'storeCacheSize', 'storeInterval', 'deltas'] as const)
      .filter((name) => options[name] !== undefined)
      .map((name) => `${name}: builds come from a folder: name a store, or leave it out`)
  }
  return [
    ...(directory === undefined ? [] : ['directory: builds come from the store: leave one of them out']),
    ...(handler?.fileSystemFallback === true ? [`handler.fileSystemFallback: ${noFolder}`] : []),
  ]
}

const checks = {
  ...storeChecks,
  directory: expecting('the path of a folder', (value) => typeof value === 'string'),
  port: portNumber,
  // Node listens on all addresses for an empty host, which an unset variable would give.
  host: expecting(
    'an address such as 127.0.0.1 or 0.0.0.0',
    (value) => typeof value === 'string' && value !== '',
  ),
  socket: expecting(
    `a path of ${longestSocketPath} bytes at most`,
    (value) => typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= longestSocketPath,
  ),
  socketMode: wholeNumber('permissions from 0 to 0o777', 0o777),
  descriptor: wholeNumber('the number of an open descriptor', Number.MAX_SAFE_INTEGER),
  gracePeriod: numberOf('milliseconds'),
  site: optionsFor(resolveLiveSiteOptions),
  handler: optionsFor(resolveHandlerOptions),
  ssr: expecting('the path of a module', (value) => typeof value === 'string'),
  tls: optionsFor(resolveTlsOptions),
  operations: optionsFor(checkOperationsOptions),
  allowHosts: hostList,
  engine: oneOf(...engineChoices),
}

/** Where its builds come from. */
export function placeOf({
  directory,
  store,
  storeCache,
  storeCacheSize,
  storeInterval,
  deltas,
}: Pick<ResolvedServeOptions, 'directory' | keyof StoreOptions>): BuildPlace {
  if (store === undefined) return directory
  return {
    store,
    ...(storeCache !== undefined && { storeCache }),
    ...(storeCacheSize !== undefined && { storeCacheSize }),
    ...(storeInterval !== undefined && { storeInterval }),
    ...(deltas !== undefined && { deltas }),
  }
}

/** A descriptor outranks a socket, and a socket the port, which has a default. */
function addressOf(options: Omit<ResolvedServeOptions, 'address'>): ListenAddress {
  const { descriptor, socket, socketMode, host, port } = options
  if (descriptor !== undefined) return { descriptor }
  return socket === undefined ? { port, host } : { socket, socketMode }
}
