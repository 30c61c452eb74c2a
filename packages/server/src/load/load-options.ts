import { readFileSync } from 'node:fs'
import {
  type ByteSize,
  type EnvironmentSource,
  type Fields,
  s,
  type Schema,
  type ServingRules,
} from '@serve-dist/manifest'

/** How a folder is read at boot. */
export interface LoadSiteOptions {
  /**
   * What is compared with the manifest: that each file exists and has its size, or also its SHA-256
   * (reads every byte). Of a store, every byte is compared anyway.
   * @default 'size'
   */
  readonly verify?: 'size' | 'hash'
  /**
   * Bytes of bodies to hold in memory, or a text such as `'64m'`; smallest first, what does not fit is streamed from the
   * disk.
   * @default 67_108_864 (64 MiB)
   */
  readonly memoryBudget?: ByteSize
  /**
   * Bytes of the largest body to hold in memory.
   * @default Infinity (the budget alone decides)
   */
  readonly largestBody?: ByteSize
  /**
   * How the build is to be served; what these rules say outranks the plugin's options in the manifest
   * and the build's `_headers` and `_redirects`.
   * @default {}
   */
  readonly rules?: ServingRules
  /**
   * What becomes of files in the folder that the manifest does not list, and that its selection does not leave out: a
   * warning, and a refusal where pages are lost by it (`refuse`); a warning (`warn`); nothing (`ignore`, for hosts with
   * `fileSystemFallback`). A reload never refuses them. A store has none.
   * @default 'refuse'
   */
  readonly unlisted?: 'refuse' | 'warn' | 'ignore'
  /**
   * Whether a folder without a manifest is served as it is, even one that looks like a build that lost it, a project, or
   * the output of a server build.
   * @default false
   */
  readonly noManifest?: boolean
  /**
   * The texts that a build with a `virtual:serve-dist/env` takes its values from, by the names of environment variables:
   * those that the build lists, and no other ones. They are read at each load.
   * @default process.env
   */
  readonly environment?: EnvironmentSource
  /**
   * A file with further ones, in the form that `node --env-file` reads; `environment` outranks it.
   * @default none
   */
  readonly envFile?: string
  /**
   * Called with what the build asks for and this server does not do, and with options that do nothing.
   * @default prints the message to standard error
   */
  readonly onWarning?: (message: string) => void
}

/** `LoadSiteOptions` with nothing left open but where values come from. */
export type ResolvedLoadSiteOptions = Required<Omit<LoadSiteOptions, SizeName | SourceName>> &
  Pick<LoadSiteOptions, SourceName> &
  Readonly<Record<SizeName, number>>

type SourceName = 'environment' | 'envFile'
type SizeName = 'memoryBudget' | 'largestBody'

/** What every way of loading takes. */
export const loadFields: Fields<ResolvedLoadSiteOptions> = {
  verify: s.withDefault(s.oneOf(['size', 'hash']), () => 'size'),
  memoryBudget: s.withDefault(s.byteSize(), () => 64 * 1024 * 1024),
  largestBody: s.withDefault(s.byteSize(), () => Number.POSITIVE_INFINITY),
  rules: s.withDefault(s.writtenServingRules, () => ({})),
  unlisted: s.withDefault(s.oneOf(['refuse', 'warn', 'ignore']), () => 'refuse'),
  noManifest: s.withDefault(s.trueOrFalse, () => false),
  environment: s.optional(s.readableBy(readEnvironmentSource)),
  envFile: s.optional(s.filledText('the path of a file')),
  onWarning: s.withDefault(s.functionOf(), () => printWarning),
}

const loadSchema = s.optionsOf<ResolvedLoadSiteOptions>(loadFields)

/**
 * Fills in the defaults and checks what is given.
 *
 * @throws OperatorError that lists every wrong option, with what was found and what is expected.
 */
export function resolveLoadSiteOptions(options: LoadSiteOptions): ResolvedLoadSiteOptions {
  return s.readOptions(loadSchema, options)
}

/** How a folder is read at boot and at each reload. */
export interface LiveSiteOptions extends LoadSiteOptions {
  /**
   * Streamed files that are kept open, so that answers go on though a file is removed or replaced, and cost
   * no opening. Of a build with more such files the others are opened for each answer.
   * @default an eighth of the descriptors that the process may have, 1000 at most; none on Windows, where an open file is in the way of a build
   */
  readonly openFiles?: number
}

/** `LiveSiteOptions` with nothing left open. */
export interface ResolvedLiveSiteOptions extends ResolvedLoadSiteOptions {
  readonly openFiles: number
}

/** What a site takes that is loaded anew. */
export const liveSiteSchema: Schema<ResolvedLiveSiteOptions> = s.optionsOf<ResolvedLiveSiteOptions>({
  ...loadFields,
  openFiles: s.withDefault(s.numberOf('files'), defaultOpenFiles),
})

/**
 * Fills in the defaults and checks what is given.
 *
 * @throws OperatorError that lists every wrong option, with what was found and what is expected.
 */
export function resolveLiveSiteOptions(options: LiveSiteOptions): ResolvedLiveSiteOptions {
  return s.readOptions(liveSiteSchema, options)
}

export function printWarning(message: string): void {
  process.stderr.write(`serve-dist: warning: ${message}\n`)
}

/** The problem does not show the value, which may hold secrets. */
function readEnvironmentSource(source: EnvironmentSource): EnvironmentSource {
  if (typeof source === 'object' && source !== null) return source
  throw new TypeError('expected an object of texts such as process.env')
}

/** Two builds are open while one replaces the other, and sockets must never lack descriptors. */
export function defaultOpenFiles(): number {
  if (process.platform === 'win32') return 0
  return Math.min(1000, Math.floor((descriptorLimit() ?? 1024) / 8))
}

/** What this process may open, where the system says so; Node has raised its own limit to the highest allowed. */
export function descriptorLimit(): number | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    const [, most] = /^Max open files +(\d+|unlimited)/m.exec(limits) ?? []
    if (most === undefined) return undefined
    return most === 'unlimited' ? Number.POSITIVE_INFINITY : Number(most)
  } catch {
    return undefined
  }
}
