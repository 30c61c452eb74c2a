import { describeMismatch } from '@serve-dist/foundation/values/describe-mismatch'
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

/** Options of `serve`. With `store`, the builds come from there, and `directory` must be omitted. */
export interface ServeOptions extends Partial<StoreOptions> {
  /**
   * The folder of the build, or the folders of several builds with different bases.
   * @default 'dist'
   */
  readonly directory?: string | readonly string[]
  /**
   * The port; 0 selects a free one.
   * @default 4173
   */
  readonly port?: number
  /**
   * The address to listen on; `*` listens on all addresses.
   * @default '127.0.0.1'
   */
  readonly host?: string
  /**
   * The path of a unix socket to listen on instead of a port: at most 107 bytes (macOS: 103).
   * @default none
   */
  readonly socket?: string
  /**
   * The permissions of the socket's file.
   * @default 0o660
   */
  readonly socketMode?: number
  /**
   * The descriptor of an open socket to listen on instead of a port.
   * @default none
   */
  readonly descriptor?: number
  /**
   * Milliseconds that running answers may take after `close()`. Then their sockets are destroyed.
   * @default 10_000
   */
  readonly gracePeriod?: number
  /** Options for loading the build. */
  readonly site?: LiveSiteOptions
  /** Options for answering requests. */
  readonly handler?: HandlerOptions
  /**
   * A module that answers requests for paths that the build lacks. Its export, as default or as `handler`,
   * `fetch` or `app`, is a Node handler, a function from `Request` to `Response` or a Connect application.
   * @default none: such requests get 404 or the page of `handler.fallback`
   */
  readonly ssr?: string
  /**
   * A certificate and its key, for TLS with HTTP/2 and HTTP/1.1 on one port.
   * @default none: plain HTTP/1.1
   */
  readonly tls?: TlsOptions
  /** The access log, probes and metrics. */
  readonly operations?: OperationsOptions
  /**
   * The hosts to serve, such as `example.com` or `*.example.com`. Requests for other hosts get 421.
   * @default all
   */
  readonly allowHosts?: readonly string[]
  /**
   * The engine that serves build files; the answers are the same.
   *
   * - `native`: the threads of `@serve-dist/engine`.
   * - `node`: the JavaScript of this process.
   * - `auto`: `native` if it is available and supports the other options, otherwise `node`.
   * @default 'auto'
   */
  readonly engine?: EngineChoice
}

/** Options without a default. */
type OptionalName = 'ssr' | 'tls' | 'socket' | 'descriptor' | 'allowHosts' | keyof StoreOptions

/** `ServeOptions` with all defaults. */
interface ReadServeOptions
  extends Required<Omit<ServeOptions, OptionalName | 'site' | 'handler'>>, Pick<ServeOptions, OptionalName> {
  readonly site: ResolvedLiveSiteOptions
  readonly handler: ResolvedHandlerOptions
}

/** The resolved options with the address to listen on. */
export interface ResolvedServeOptions extends ReadServeOptions {
  readonly address: ListenAddress
}

const folders: s.Schema<string | readonly string[]> = s.readableBy((given: string | readonly string[]) => {
  const isList = Array.isArray(given) && given.length > 0 && given.every((each) => typeof each === 'string')
  if (isList) return given.length === 1 ? (given[0] ?? '') : given
  if (typeof given === 'string') return given
  throw new TypeError(describeMismatch('the path of a folder, or a list of such paths', given))
})

/** The options of a server. */
export const serveFields: Fields<ReadServeOptions> = {
  store: s.optional(storeFields.store),
  storeCache: storeFields.storeCache,
  storeCacheSize: s.optional(storeFields.storeCacheSize),
  storeInterval: s.optional(storeFields.storeInterval),
  deltas: s.optional(storeFields.deltas),
  directory: s.withDefault(folders, () => 'dist'),
  port: s.withDefault(s.portNumber, () => 4173),
  // An empty host, for example from an unset variable, would make Node listen on all addresses.
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
export const defaultDirectory = 'dist'

/**
 * Validates the options and fills in the defaults.
 *
 * @throws OperatorError that lists each wrong option with its value and the expected values.
 */
export function resolveServeOptions(options: ServeOptions): ResolvedServeOptions {
  const resolved = s.readOptions(serveSchema, options)
  const problems = contradictionsOf(options)
  if (problems.length > 0) throw new OperatorError('SD_OPTION_INVALID', problems)
  // Node treats longer timeouts as 0.
  const gracePeriod = Math.min(resolved.gracePeriod, maximumTimeout)
  return { ...resolved, gracePeriod, address: addressOf(resolved) }
}

/** Returns conflicts between the options of a store and those of a folder. */
function contradictionsOf(options: ServeOptions): readonly string[] {
  const { store, directory, handler } = options
  if (store === undefined) {
    return (['storeCache', 'storeCacheSize', 'storeInterval', 'deltas'] as const)
      .filter((name) => options[name] !== undefined)
      .map((name) => `${name}: this option needs a store. Set store, or remove this option.`)
  }
  return [
    ...(directory === undefined ? [] : ['directory: cannot be combined with store. Remove one of them.']),
    ...(handler?.fileSystemFallback === true ? [`handler.fileSystemFallback: ${noFolderProblem}`] : []),
  ]
}

/** Returns the folder or the store of the builds. */
export function selectBuildPlace({
  directory,
  store,
  storeCache,
  storeCacheSize,
  storeInterval,
  deltas,
}: Pick<ResolvedServeOptions, 'directory' | keyof StoreOptions>): BuildPlace | readonly string[] {
  if (store === undefined) return directory
  return {
    store,
    ...(storeCache !== undefined && { storeCache }),
    ...(storeCacheSize !== undefined && { storeCacheSize }),
    ...(storeInterval !== undefined && { storeInterval }),
    ...(deltas !== undefined && { deltas }),
  }
}

/**
 * Chooses the address: a descriptor precedes a socket, and a socket precedes the port, which has a default.
 */
function addressOf(options: ReadServeOptions): ListenAddress {
  const { descriptor, socket, socketMode, host, port } = options
  if (descriptor !== undefined) return { descriptor }
  return socket === undefined ? { port, host } : { socket, socketMode }
}
