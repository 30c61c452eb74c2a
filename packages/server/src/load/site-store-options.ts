import { OperatorError } from '@serve-dist/manifest'
import { readFileSync } from 'node:fs'
import {
  type LoadSiteOptions,
  type ResolvedLoadSiteOptions,
  resolveLoadSiteOptions,
} from './load-site-options.ts'

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
