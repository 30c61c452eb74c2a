import { existsSync } from 'node:fs'
import { buildNotFound, manifestMissing, OperatorError } from '@serve-dist/manifest'
import { findProxying } from '../../site/redirects.ts'
import type { Site } from '../../site/site.ts'
import type { Forward } from '../../proxy/forward.ts'
import { createHandler, type Handler } from '../handler.ts'
import { loadProtectedSite } from '../../load/load-site.ts'
import { fingerprintManifest } from '../../load/fingerprint-manifest.ts'
import type { ResolvedPreviewDistOptions } from './preview-dist-options.ts'
import type { PreviewLogger } from './preview-server.ts'

/** Returns the handler of the folder's current build, or `undefined` without a valid build. */
export type CurrentHandler = () => Promise<Handler | undefined>

/** The required base, the logger and the options. */
export interface PreviewSiteOptions {
  readonly base: string
  readonly logger: PreviewLogger
  readonly options: ResolvedPreviewDistOptions
}

/**
 * Loads the build in `directory` and logs a warning if it is invalid or has another base. Each request
 * checks for a new build. Vite does not report the end of a preview, hence a watcher could not be closed.
 */
export async function createPreviewSite(
  directory: string,
  options: PreviewSiteOptions,
): Promise<CurrentHandler> {
  let seen: string | undefined
  let handler: Promise<Handler | undefined> = Promise.resolve(undefined)

  const current: CurrentHandler = async () => {
    const mark = await fingerprintManifest(directory)
    if (mark !== seen) {
      seen = mark
      handler = mark === undefined ? Promise.resolve(undefined) : loadHandler(directory, options)
    }
    return handler
  }

  await current()
  if (seen === undefined) {
    const { problems } = existsSync(directory) ? manifestMissing(directory) : buildNotFound(directory)
    warn(options.logger, directory, problems)
  }
  return current
}

async function loadHandler(
  directory: string,
  { base, logger, options }: PreviewSiteOptions,
): Promise<Handler | undefined> {
  const warnOf = (message: string): void => logger.warn(`[serve-dist] ${message}`)
  try {
    const site = await loadProtectedSite(directory, { ...options.site, onWarning: warnOf })
    const builtFor = decodeURIComponent(site.base)
    if (builtFor === base) {
      const onProblem = ({ message }: Error): void => warnOf(message)
      const forward = findProxying(site) && (await openForward(site, onProblem))
      return createHandler(site, { ...options.handler, onProblem }, forward)
    }
    warn(logger, directory, [
      `the build has the base "${builtFor}" but this preview has "${base}". Build again.`,
    ])
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    warn(logger, directory, error.problems)
  }
  return undefined
}

/** Forwards requests for rules that `preview.proxy` does not have. */
async function openForward(site: Site, onProblem: (problem: Error) => void): Promise<Forward> {
  const { openProxy } = await import('../../proxy/forward.ts')
  return (await openProxy({ currentSite: () => site, onProblem })).forward
}

function warn(logger: PreviewLogger, directory: string, problems: readonly string[]): void {
  const lines = [
    `[serve-dist] Vite answers this preview, so it differs from production. ${directory} cannot be served:`,
    ...problems,
  ]
  logger.warn(lines.join('\n  '))
}
