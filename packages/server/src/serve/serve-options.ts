import { type Fields, OperatorError, s } from '@serve-dist/manifest'
import {
  type HandlerOptions,
  handlerSchema,
  noFolderProblem,
  type ResolvedHandlerOptions,
} from '../hosts/handler-options.ts'
import { liveSiteSchema, type LiveSiteOptions, type ResolvedLiveSiteOptions } from '../load/load-options.ts'
import type { BuildPlace } from '../load/open-source.ts'
import { storeFields, type StoreOptions } from '../load/store-options.ts'
import { type EngineChoice, engineChoices } from '../native/choose-engine.ts'
import { type OperationsOptions, operationsSchema } from '../operations/operations-options.ts'
import { maximumTimeout } from '../protocol/connection-limits.ts'
import { hostList } from '../transport/allow-hosts.ts'
import { type ListenAddress, longestSocketPath } from '../transport/listen.ts'
import { type TlsOptions, tlsSchema } from '../transport/tls/tls-options.ts'

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

/** `ServeOptions` as they are read, with every default filled in. */
interface ReadServeOptions
  extends Required<Omit<ServeOptions, OptionalName | 'site' | 'handler'>>, Pick<ServeOptions, OptionalName> {
  readonly site: ResolvedLiveSiteOptions
  readonly handler: ResolvedHandlerOptions
}

/** The same, with the address to listen on. */
export interface ResolvedServeOptions extends ReadServeOptions {
  readonly address: ListenAddress
}

/** What a server takes. */
export const serveFields: Fields<ReadServeOptions> = {
  store: s.optional(storeFields.store),
  storeCache: storeFields.storeCache,
  storeCacheSize: s.optional(storeFields.storeCacheSize),
  storeInterval: s.optional(storeFields.storeInterval),
  deltas: s.optional(storeFields.deltas),
  directory: s.withDefault(s.text('the path of a folder'), () => 'dist'),
  port: s.withDefault(s.portNumber, () => 4173),
  // Node listens on all addresses for an empty host, which an unset variable would give.
  host: s.withDefault(s.filledText('an address such as 127.0.0.1 or 0.0.0.0'), () => '127.0.0.1'),
  socket: s.optional(
    s.text(
      `a path of ${longestSocketPath} bytes at most`,
      (path) => path !== '' && Buffer.byteLength(path) <= longestSocketPath,
    ),
  ),
  socketMode: s.withDefault(s.wholeNumber('permissions from 0 to 0o777', 0o777), () => 0o660),
  descriptor: s.optional(s.wholeNumber('the number of an open descriptor')),
  gracePeriod: s.withDefault(s.numberOf('milliseconds'), () => 10_000),
  site: s.withDefault(liveSiteSchema, () => ({})),
  handler: s.withDefault(handlerSchema, () => ({})),
  ssr: s.optional(s.text('the path of a module')),
  tls: s.optional(tlsSchema),
  operations: s.withDefault(operationsSchema, () => ({})),
  allowHosts: s.optional(hostList),
  engine: s.withDefault(s.oneOf(engineChoices), () => 'auto'),
}

const serveSchema = s.optionsOf<ReadServeOptions>(serveFields)

/** The folder of a build, if the caller names none. */
export const defaultDirectory: string = s.defaultOf(serveFields.directory)

/**
 * Fills in the defaults and checks what is given.
 *
 * @throws OperatorError that lists every wrong option, with what was found and what is expected.
 */
export function resolveServeOptions(options: ServeOptions): ResolvedServeOptions {
  const resolved = s.readOptions(serveSchema, options)
  const problems = contradictionsOf(options)
  if (problems.length > 0) throw new OperatorError('SD_OPTION_INVALID', problems)
  // Node treats a longer timeout as 0.
  const gracePeriod = Math.min(resolved.gracePeriod, maximumTimeout)
  return { ...resolved, gracePeriod, address: addressOf(resolved) }
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
    ...(handler?.fileSystemFallback === true ? [`handler.fileSystemFallback: ${noFolderProblem}`] : []),
  ]
}

/** Where its builds come from. */
export function selectBuildPlace({
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
function addressOf(options: ReadServeOptions): ListenAddress {
  const { descriptor, socket, socketMode, host, port } = options
  if (descriptor !== undefined) return { descriptor }
  return socket === undefined ? { port, host } : { socket, socketMode }
}
