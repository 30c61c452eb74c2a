import { type AppType, appTypes, type Fallback, fallbacks, type RedirectRule, s } from '@serve-dist/manifest'
import type { ReportFlags } from './report-command.ts'
import { loadFields } from '../load/load-options.ts'
import { type CspMode, cspModes } from '../rules/read-rules.ts'
import { ignoredWithStore } from '../load/store-options.ts'
import { serveFields } from '../serve/serve-options.ts'
import { type EngineChoice, engineChoices } from '../native/choose-engine.ts'
import { hostList } from '../transport/allow-hosts.ts'
import { accessLogFormats, type AccessLogFormat, operationsFields } from '../operations/operations-options.ts'
import type { OpsAddress } from '../operations/ops-server.ts'
import { parseHsts } from '../transport/tls/tls-options.ts'
import {
  parseDuration,
  parseField,
  parseOpsAddress,
  parsePort,
  parseProxies,
  parseResolve,
  parseSocket,
  parseStorePlace,
  parseWorkers,
  createFlagParser,
  type ResolvedAddress,
  type SocketPlace,
} from './flag-values.ts'

/** The definition of a flag. `--help`, `docs/cli.md`, commander and the checks of flag combinations use it. */
export interface Flag<Value = unknown> {
  readonly letter?: string
  /** The value in the help. Absent for a switch; defaults to the `choices`. */
  readonly value?: string
  readonly help: string
  readonly group: string
  /** Whether the short help lists it. */
  readonly isCommon?: true
  readonly environment?: string
  readonly default?: Value
  readonly defaultText?: string
  readonly choices?: readonly string[]
  /** Parses the value; throws a TypeError that says what was expected. */
  readonly read?: (text: string) => Value
  /** Whether it can be repeated. Each one has a single value: `<glob...>` would swallow the folder after it. */
  readonly isRepeatable?: true
  /** Another flag that must be set with it. */
  readonly requires?: keyof ServeFlags
  /** Returns why it has no effect with the other flags, or `undefined` if it has one. */
  readonly unused?: (flags: GivenFlags) => string | undefined
}

/** A flag for each property of `Flags`. */
export type FlagTable<Flags> = { readonly [Name in keyof Flags]-?: Flag<NonNullable<Flags[Name]>> }

/** The options of the server, from the command line and the environment. */
export interface ServeFlags {
  readonly port: number
  readonly host: string
  readonly socket?: SocketPlace
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly redirectHttp?: number
  readonly hsts?: string
  readonly allowHost?: readonly string[]
  readonly fallback?: Fallback
  readonly config?: string
  readonly ssr?: string
  readonly proxy?: readonly RedirectRule[]
  readonly envFile?: string
  readonly fsFallback?: boolean
  readonly csp?: CspMode
  readonly workers?: number | 'auto'
  readonly engine: EngineChoice
  readonly watch?: boolean
  readonly grace: number
  readonly verify?: boolean
  readonly force?: boolean
  readonly memoryBudget: number
  readonly store?: string
  readonly storeCache?: string
  readonly noDeltas?: boolean
  readonly accessLog?: AccessLogFormat
  readonly ops?: OpsAddress
  readonly trustProxy?: string
  readonly health?: string
}

/** The options of the server, and the socket that a service manager passed on. */
export interface GivenFlags extends ServeFlags {
  readonly descriptor?: number | undefined
}

const address = 'Address'
const answers = 'Answers'
const process = 'Process and log'
const memory = 'Files and memory'
const store = 'Store of builds'

export const serveFlags: FlagTable<ServeFlags> = {
  port: {
    letter: 'p',
    value: '<number>',
    help: 'port to listen on; 0 picks a free port',
    group: address,
    isCommon: true,
    environment: 'PORT',
    default: s.defaultOf(serveFields.port),
    read: parsePort,
    unused: besideSocket,
  },
  host: {
    letter: 'H',
    value: '[address]',
    help: 'address; no value: all addresses',
    group: address,
    isCommon: true,
    environment: 'HOST',
    default: s.defaultOf(serveFields.host),
    read: createFlagParser(serveFields.host),
    // The listener that redirects plain HTTP also uses this address.
    unused: (flags) => (flags.redirectHttp === undefined ? besideSocket(flags) : undefined),
  },
  socket: {
    value: '<path>',
    help: 'Unix socket to listen on instead of a port, with optional permissions, such as /run/site.sock:660',
    group: address,
    read: parseSocket,
    unused: besideDescriptor,
  },
  tlsCert: {
    value: '<file>',
    help: 'certificate chain (PEM) for HTTPS and HTTP/2',
    group: address,
    isCommon: true,
    environment: 'TLS_CERT',
    requires: 'tlsKey',
  },
  tlsKey: {
    value: '<file>',
    help: 'private key of the certificate (PEM)',
    group: address,
    isCommon: true,
    environment: 'TLS_KEY',
    requires: 'tlsCert',
  },
  redirectHttp: {
    value: '<port>',
    help: 'HTTP port that redirects to HTTPS; 0 picks a free port',
    group: address,
    read: parsePort,
    requires: 'tlsCert',
  },
  hsts: {
    value: '<time>',
    help: 'send Strict-Transport-Security: its max-age, such as 1y, or its whole value',
    group: address,
    read: parseHsts,
    requires: 'tlsCert',
  },
  allowHost: {
    value: '<names>',
    help: 'host names to accept, such as example.com,*.example.com; requests for other hosts get 421',
    group: address,
    environment: 'ALLOW_HOST',
    defaultText: 'all hosts',
    isRepeatable: true,
    read: (text) => createFlagParser(hostList)(text.split(',').map((name) => name.trim())),
  },
  fallback: {
    value: '<mode>',
    help: 'unknown pages: spa, 404, none',
    group: answers,
    isCommon: true,
    defaultText: 'from the build',
    choices: fallbacks,
  },
  config: {
    value: '<file>',
    help: 'configuration file',
    group: answers,
    defaultText: 'serve-dist.config.*',
  },
  ssr: {
    value: '<module>',
    help: 'module for server-side rendering and API routes',
    group: answers,
    isCommon: true,
  },
  proxy: {
    value: '<path=address>',
    help: 'forward a path to another server, such as /api=http://backend:3000 (needs undici)',
    group: answers,
    environment: 'PROXY',
    isRepeatable: true,
    read: parseProxies,
  },
  envFile: {
    value: '<file>',
    help: 'environment file in the format of node --env-file; existing variables win; reloaded with --watch and --store',
    group: answers,
  },
  fsFallback: {
    help: 'serve files from the disk that are not in the build, such as files added after the start',
    group: answers,
    unused: besideStore('there is no folder to look in'),
  },
  csp: {
    value: '[mode]',
    help: 'send a Content-Security-Policy made from the build; no value: enforce',
    group: answers,
    environment: 'CSP',
    defaultText: 'from the build or the configuration, else off',
    choices: cspModes,
  },
  workers: {
    value: '<count>',
    help: 'workers, or auto for one per core',
    group: process,
    isCommon: true,
    environment: 'WORKERS',
    defaultText: 'by engine',
    read: parseWorkers,
  },
  engine: {
    help: 'engine that serves build files: auto (native if available), native or node',
    group: process,
    environment: 'SERVE_DIST_ENGINE',
    choices: engineChoices,
    default: s.defaultOf(serveFields.engine),
  },
  watch: {
    help: 'reload after each build (SIGHUP: reload now)',
    group: process,
    isCommon: true,
    unused: (flags) =>
      flags.store === undefined ? undefined : 'with --store: the server follows the store anyway',
  },
  grace: {
    value: '<duration>',
    help: 'time limit for open requests after a stop signal',
    group: process,
    environment: 'GRACE',
    default: s.defaultOf(serveFields.gracePeriod),
    defaultText: '10s',
    read: parseDuration,
  },
  accessLog: {
    value: '<format>',
    help: 'log each request to standard output (needs pino)',
    group: process,
    environment: 'ACCESS_LOG',
    choices: accessLogFormats,
  },
  ops: {
    value: '<address>',
    help: 'address for /healthz, /readyz and /metrics, such as 127.0.0.1:9090, or :9090 for all addresses (needs prom-client)',
    group: process,
    environment: 'OPS',
    read: parseOpsAddress,
  },
  health: {
    value: '<path>',
    help: 'path for health checks on the port of the site, such as /healthz: 200, or 503 while the server stops',
    group: process,
    environment: 'HEALTH',
    read: createFlagParser(s.healthPath),
  },
  trustProxy: {
    value: '<list>',
    help: 'proxies trusted to report addresses and schemes of clients, for the log, --proxy and --ssr: their number, addresses, ranges, loopback, linklocal, uniquelocal',
    group: process,
    environment: 'TRUST_PROXY',
    read: (text) => String(createFlagParser(operationsFields.trustProxy)(text)),
  },
  verify: {
    help: 'check the SHA-256 of every file at the start, not only its size',
    group: memory,
    unused: besideStore(ignoredWithStore.verify),
  },
  force: {
    help: 'start although the folder looks wrong',
    group: memory,
    unused: besideStore(`${ignoredWithStore.noManifest}, and ${ignoredWithStore.unlisted}`),
  },
  memoryBudget: {
    value: '<size>',
    help: 'memory of each process for response bodies, smallest first; others are read from the disk',
    group: memory,
    default: s.defaultOf(loadFields.memoryBudget),
    defaultText: '64m',
    read: createFlagParser(loadFields.memoryBudget),
  },
  store: {
    value: '<where>',
    help: 'store to serve instead of a folder: a path or s3://bucket/prefix',
    group: store,
    environment: 'SERVE_DIST_STORE',
    read: parseStorePlace,
  },
  storeCache: {
    value: '<dir>',
    help: 'local cache folder; several processes can share it',
    group: store,
    environment: 'SERVE_DIST_STORE_CACHE',
    defaultText: '~/.cache/serve-dist',
    unused: withoutStore,
  },
  noDeltas: {
    help: 'disable delta responses (RFC 9842)',
    group: store,
    unused: withoutStore,
  },
}

/** The options of `compress`. */
export interface CompressFlags {
  readonly base?: string
  readonly appType?: AppType
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
  readonly immutable?: readonly string[]
}

export const compressFlags: FlagTable<CompressFlags> = {
  base: {
    value: '<path>',
    help: 'public base path, such as /app/',
    group: 'Options',
    defaultText: 'from the last build, else /',
    read: createFlagParser(s.basePath),
  },
  appType: {
    help: 'application type, which decides the answer to unknown paths',
    group: 'Options',
    defaultText: 'from the last build, else from the pages in the folder',
    choices: appTypes,
  },
  include: {
    value: '<glob>',
    help: 'files to compress and serve; saved in the manifest',
    group: 'Options',
    defaultText: 'from the last build, else all',
    isRepeatable: true,
    read: readGlob,
  },
  exclude: {
    value: '<glob>',
    help: 'files that are neither compressed nor served; saved in the manifest',
    group: 'Options',
    defaultText: 'from the last build, else none',
    isRepeatable: true,
    read: readGlob,
  },
  immutable: {
    value: '<glob>',
    help: 'files with a content hash in their name, besides those that the build recorded; saved in the manifest',
    group: 'Options',
    defaultText: 'from the last build, else none',
    isRepeatable: true,
    read: readGlob,
  },
}

export const reportFlags: FlagTable<ReportFlags> = {
  title: {
    value: '<text>',
    help: 'title of the report',
    group: 'Options',
    default: 'Build size',
  },
  against: {
    value: '<build>',
    help: 'earlier build to compare with: its folder or a copy of its manifest',
    group: 'Options',
  },
  store: {
    value: '<where>',
    help: 'compare the last two builds of a store, and the download of a returning visitor: a folder or s3://bucket/prefix',
    group: 'Options',
    read: parseStorePlace,
  },
  format: {
    help: 'output format',
    group: 'Options',
    default: 'terminal',
    choices: ['terminal', 'markdown', 'json', 'html'],
  },
  output: {
    value: '<file>',
    help: 'output file',
    group: 'Options',
    defaultText: 'standard output',
  },
  budget: {
    value: '<budget>',
    help: "size limit, such as 'assets/*.js=150kb:br' or total=500kb",
    group: 'Options',
    default: [],
    isRepeatable: true,
  },
}

/** The options for the server's configuration, for commands that inspect its answers. */
type AsServedFlags = Pick<ServeFlags, 'config' | 'ssr' | 'proxy' | 'envFile'>

const asServed = 'Server options'

const asServedFlags: FlagTable<AsServedFlags> = {
  config: { ...serveFlags.config, group: asServed },
  ssr: { ...serveFlags.ssr, group: asServed },
  proxy: { ...serveFlags.proxy, group: asServed },
  envFile: { ...serveFlags.envFile, group: asServed },
}

/** The options of `check`. */
export interface CheckFlags extends AsServedFlags {
  readonly build?: string
  readonly all?: boolean
  readonly header?: readonly RequestField[]
  readonly resolve?: ResolvedAddress
  readonly insecure?: boolean
  readonly json?: boolean
}

/** A name and a value. */
type RequestField = readonly [string, string]

export const checkFlags: FlagTable<CheckFlags> = {
  build: {
    value: '<dir>',
    help: 'folder of the build that the site should serve',
    group: 'Options',
    defaultText: 'dist',
  },
  all: {
    help: 'request every file, not only all pages and 50 other files',
    group: 'Options',
  },
  header: {
    letter: 'H',
    value: '<field>',
    help: "request header to send, such as 'Authorization: Bearer …'",
    group: 'Options',
    isRepeatable: true,
    read: (text) => [parseField(text)],
  },
  resolve: {
    value: '<place>',
    help: 'connect to this address instead, such as example.org:443:127.0.0.1',
    group: 'Options',
    read: parseResolve,
  },
  insecure: {
    help: 'accept any certificate',
    group: 'Options',
  },
  json: {
    help: 'print the report as JSON',
    group: 'Options',
  },
  ...asServedFlags,
}

/** The options of `explain`: the request and the server's configuration. */
export interface ExplainFlags extends AsServedFlags, Pick<ServeFlags, 'fsFallback'> {
  readonly method: string
  readonly header?: readonly RequestField[]
  readonly json?: boolean
}

export const explainFlags: FlagTable<ExplainFlags> = {
  header: {
    letter: 'H',
    value: '<field>',
    help: "request header, such as 'Accept-Encoding: br'",
    group: 'Options',
    isRepeatable: true,
    read: (text) => [parseField(text)],
  },
  method: {
    letter: 'X',
    value: '<method>',
    help: 'request method',
    group: 'Options',
    default: 'GET',
    read: (text) => text.toUpperCase(),
  },
  json: {
    help: 'print the explanation as JSON',
    group: 'Options',
  },
  ...asServedFlags,
  fsFallback: { ...serveFlags.fsFallback, group: asServed },
}

/** Returns the flag of an option: `--tls-cert` for `tlsCert`. */
export function flagName(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** Returns the flag with its letter and value, in commander's format. */
export function flagTerm(name: string, flag: Flag): string {
  const letter = flag.letter === undefined ? '' : `-${flag.letter}, `
  return `${letter}${flagName(name)} ${valueOf(flag)}`.trim()
}

/** Returns the value for the help; `''` for a switch. */
export function valueOf({ value, choices }: Flag): string {
  return value ?? (choices === undefined ? '' : `<${choices.join('|')}>`)
}

/** Returns the default for the help, if there is one. */
export function defaultOf({ default: value, defaultText }: Flag): string | undefined {
  if (defaultText !== undefined) return defaultText
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/** Returns a problem for each flag that needs another one. */
export function missingFlags(flags: GivenFlags): string[] {
  return Object.entries<Flag>(serveFlags).flatMap(([name, { requires }]) =>
    Reflect.get(flags, name) !== undefined && requires !== undefined && flags[requires] === undefined
      ? [`${flagName(name)} needs ${flagName(requires)}`]
      : [],
  )
}

/**
 * Returns a warning for each flag that has no effect with the others.
 *
 * @param isGiven - whether the flag is on the command line. Defaults and variables of the environment need no warning,
 * because a platform may set the same variables for all of its programs.
 */
export function unusedFlags(flags: GivenFlags, isGiven: (name: string) => boolean): string[] {
  return Object.entries<Flag>(serveFlags).flatMap(([name, { unused }]) => {
    const reason = isGiven(name) ? unused?.(flags) : undefined
    return reason === undefined ? [] : [`${flagName(name)} has no effect ${reason}`]
  })
}

function besideDescriptor({ descriptor }: GivenFlags): string | undefined {
  return descriptor === undefined ? undefined : 'with LISTEN_FDS: remove one of them'
}

function besideSocket(flags: GivenFlags): string | undefined {
  return (
    besideDescriptor(flags) ?? (flags.socket === undefined ? undefined : 'with --socket: remove one of them')
  )
}

function besideStore(why: string) {
  return (flags: GivenFlags): string | undefined =>
    flags.store === undefined ? undefined : `with --store: ${why}`
}

function withoutStore(flags: GivenFlags): string | undefined {
  return flags.store === undefined ? 'without --store' : undefined
}

function readGlob(text: string): readonly string[] {
  return [createFlagParser(s.glob)(text)]
}
