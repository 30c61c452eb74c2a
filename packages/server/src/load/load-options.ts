import { readFileSync } from 'node:fs'
import {
  type ByteSize,
  type EnvironmentSource,
  type Fields,
  s,
  type Schema,
  type ServingRules,
} from '@serve-dist/manifest'

/** The options for loading a build. */
export interface LoadSiteOptions {
  /**
   * The check of each file: that it exists with the listed size, or also its SHA-256, which reads every byte. Files of a
   * store are always compared by SHA-256.
   * @default 'size'
   */
  readonly verify?: 'size' | 'hash'
  /**
   * Bytes of bodies to hold in memory, or a text such as `'64m'`. The smallest bodies come first; the others are streamed
   * from the disk.
   * @default 67_108_864 (64 MiB)
   */
  readonly memoryBudget?: ByteSize
  /**
   * The maximum size in bytes of a body in memory.
   * @default Infinity (only the budget decides)
   */
  readonly largestBody?: ByteSize
  /**
   * The serving rules, or a function that reads them at each load. They override the plugin's options in the manifest and
   * the build's `_headers` and `_redirects`.
   * @default {}
   */
  readonly rules?: ServingRules | (() => ServingRules | Promise<ServingRules>)
  /**
   * The treatment of files that the manifest neither lists nor excludes. `refuse` warns, and refuses to start if pages are
   * affected. `warn` only warns. `ignore` does nothing, and is for hosts with `fileSystemFallback`. A reload never refuses
   * such files, and a store does not contain them.
   * @default 'refuse'
   */
  readonly unlisted?: 'refuse' | 'warn' | 'ignore'
  /**
   * Whether to serve a folder without a manifest even if it looks wrong: a build that lost its manifest, a project, or the
   * output of a server build.
   * @default false
   */
  readonly noManifest?: boolean
  /**
   * Environment variables for builds with a `virtual:serve-dist/env`. The server reads only the variables that the build
   * lists, at each load.
   * @default process.env
   */
  readonly environment?: EnvironmentSource
  /**
   * A file with more variables in the format of `node --env-file`. Variables of `environment` take precedence.
   * @default none
   */
  readonly envFile?: string
  /**
   * Called with warnings about unsupported rules and options without an effect.
   * @default prints the message to standard error
   */
  readonly onWarning?: (message: string) => void
}

/** `LoadSiteOptions` with defaults, except the sources of variables. */
export type ResolvedLoadSiteOptions = Required<Omit<LoadSiteOptions, SizeName | SourceName>> &
  Pick<LoadSiteOptions, SourceName> &
  Readonly<Record<SizeName, number>>

type SourceName = 'environment' | 'envFile'
type SizeName = 'memoryBudget' | 'largestBody'

export const loadFields: Fields<ResolvedLoadSiteOptions> = {
  verify: s.withDefault(s.oneOf(['size', 'hash']), () => 'size'),
  memoryBudget: s.withDefault(s.byteSize(), () => 64 * 1024 * 1024),
  largestBody: s.withDefault(s.byteSize(), () => Number.POSITIVE_INFINITY),
  rules: s.withDefault(s.functionOr(s.writtenServingRules), () => ({})),
  unlisted: s.withDefault(s.oneOf(['refuse', 'warn', 'ignore']), () => 'refuse'),
  noManifest: s.withDefault(s.trueOrFalse, () => false),
  environment: s.optional(s.readableBy(readEnvironmentSource)),
  envFile: s.optional(s.filledText('the path of a file')),
  onWarning: s.withDefault(s.functionOf(), () => printWarning),
}

const loadSchema = s.optionsOf<ResolvedLoadSiteOptions>(loadFields)

/**
 * Validates options and adds the defaults.
 *
 * @throws OperatorError that lists all invalid options with their expected values.
 */
export function resolveLoadSiteOptions(options: LoadSiteOptions): ResolvedLoadSiteOptions {
  return s.readOptions(loadSchema, options)
}

/** How to load a build at the start and at each reload. */
export interface LiveSiteOptions extends LoadSiteOptions {
  /**
   * The number of streamed files to keep open. Open files survive changes of the folder and save time for each response.
   * Further files are opened for each response.
   * @default an eighth of the process's descriptors, at most 1000; 0 on Windows, where open files block a new build
   */
  readonly openFiles?: number
}

/** `LiveSiteOptions` with defaults. */
export interface ResolvedLiveSiteOptions extends ResolvedLoadSiteOptions {
  readonly openFiles: number
}

export const liveSiteSchema: Schema<ResolvedLiveSiteOptions> = s.optionsOf<ResolvedLiveSiteOptions>({
  ...loadFields,
  openFiles: s.withDefault(s.numberOf('files'), defaultOpenFiles),
})

/**
 * Validates options and adds the defaults.
 *
 * @throws OperatorError that lists all invalid options with their expected values.
 */
export function resolveLiveSiteOptions(options: LiveSiteOptions): ResolvedLiveSiteOptions {
  return s.readOptions(liveSiteSchema, options)
}

export function printWarning(message: string): void {
  process.stderr.write(`serve-dist: warning: ${message}\n`)
}

/** Validates the type. The problem never contains the value, because it may be secret. */
function readEnvironmentSource(source: EnvironmentSource): EnvironmentSource {
  if (typeof source === 'object' && source !== null) return source
  throw new TypeError('expected an object with string values, such as process.env')
}

/** Leaves enough descriptors for sockets, and for two open builds during a reload. */
export function defaultOpenFiles(): number {
  if (process.platform === 'win32') return 0
  return Math.min(1000, Math.floor((descriptorLimit() ?? 1024) / 8))
}

/** Returns the descriptor limit if it is known. Node has already raised the soft limit to the hard limit. */
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
