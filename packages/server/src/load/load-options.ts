import { readFileSync } from 'node:fs'
import { checkServingRules, OperatorError, type ServingRules } from '@serve-dist/manifest'
import { withDefaults } from '../with-defaults.ts'

/** How a folder is read at boot. */
export interface LoadSiteOptions {
  /**
   * What is compared with the manifest: that each file exists and has its size, or also its SHA-256
   * (reads every byte).
   * @default 'size'
   */
  readonly verify?: 'size' | 'hash'
  /**
   * Bytes of bodies to hold in memory, smallest first; what does not fit is streamed from the disk.
   * @default 67_108_864 (64 MiB)
   */
  readonly memoryBudget?: number
  /**
   * Bytes of the largest body to hold in memory.
   * @default Infinity (the budget alone decides)
   */
  readonly largestBody?: number
  /**
   * How the build is to be served; what these rules say outranks the plugin's options in the manifest
   * and the build's `_headers` and `_redirects`.
   * @default {}
   */
  readonly rules?: ServingRules
  /**
   * Called with what the build asks for and this server does not do, and with options of `serve` that do nothing.
   * @default prints the message to standard error
   */
  readonly onWarning?: (message: string) => void
}

/** `LoadSiteOptions` with nothing left open. */
type ResolvedLoadSiteOptions = Required<LoadSiteOptions>

const defaults: ResolvedLoadSiteOptions = {
  verify: 'size',
  memoryBudget: 64 * 1024 * 1024,
  largestBody: Number.POSITIVE_INFINITY,
  rules: {},
  onWarning: (message) => process.stderr.write(`serve-dist: warning: ${message}\n`),
}

/**
 * Fills in the defaults and checks what is given.
 *
 * @throws OperatorError that names the option, what was found and what is expected.
 */
export function resolveLoadSiteOptions(options: LoadSiteOptions): ResolvedLoadSiteOptions {
  const resolved = withDefaults(defaults, options)
  // Callers without types may give anything.
  const verify: string = resolved.verify
  if (verify !== 'size' && verify !== 'hash') {
    throw new OperatorError('SD_OPTION_INVALID', `verify: expected "size" or "hash", found ${verify}`)
  }
  expectBytes('memoryBudget', resolved.memoryBudget)
  expectBytes('largestBody', resolved.largestBody)
  return { ...resolved, rules: checkServingRules(resolved.rules, 'rules') }
}

function expectBytes(name: string, value: unknown): void {
  if (typeof value === 'number' && value >= 0) return
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `${name}: expected a number of bytes, 0 or more, found ${String(value)}`,
  )
}

/** How a folder is read at boot and at each reload. */
export interface SiteStoreOptions extends LoadSiteOptions {
  /**
   * Streamed files that are kept open, so that answers go on though a file is removed or replaced, and cost
   * no opening. Of a build with more such files the others are opened for each answer.
   * @default an eighth of the descriptors that the process may have, 1000 at most; none on Windows, where an open file is in the way of a build
   */
  readonly openFiles?: number
}

/** `SiteStoreOptions` with nothing left open. */
export interface ResolvedSiteStoreOptions extends ResolvedLoadSiteOptions {
  readonly openFiles: number
}

/**
 * Fills in the defaults and checks what is given.
 *
 * @throws OperatorError that names the option, what was found and what is expected.
 */
export function resolveSiteStoreOptions({
  openFiles = defaultOpenFiles(),
  ...options
}: SiteStoreOptions): ResolvedSiteStoreOptions {
  if (!(openFiles >= 0)) {
    throw new OperatorError(
      'SD_OPTION_INVALID',
      `openFiles: expected a number of files, 0 or more, found ${String(openFiles)}`,
    )
  }
  return { ...resolveLoadSiteOptions(options), openFiles }
}

/** Two builds are open while one replaces the other, and sockets must never lack descriptors. */
function defaultOpenFiles(): number {
  if (process.platform === 'win32') return 0
  return Math.min(1000, Math.floor(mostDescriptors() / 8))
}

/** What this process may open; Node has raised its own limit to the highest that is allowed. */
function mostDescriptors(): number {
  const usual = 1024
  if (process.platform !== 'linux') return usual
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    const [, most = usual] = /^Max open files +(\d+|unlimited)/m.exec(limits) ?? []
    return most === 'unlimited' ? Number.POSITIVE_INFINITY : Number(most)
  } catch {
    return usual
  }
}
