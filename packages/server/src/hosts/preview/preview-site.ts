import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { manifestMissing, manifestPath, OperatorError } from '@serve-dist/manifest'
import { createHandler, type Handler } from '../handler.ts'
import { loadSite } from '../../load/load-site.ts'
import type { ResolvedPreviewDistOptions } from './preview-dist-options.ts'
import type { PreviewLogger } from './preview-server.ts'

/** The build that a preview shows; a new build of the same folder takes its place. */
export interface PreviewSite {
  /** The handler of the build that is there now, or nothing while there is none to answer from. */
  current(): Promise<Handler | undefined>
}

/** What the build must be made for, and who is told otherwise. */
export interface PreviewSiteOptions {
  readonly base: string
  readonly logger: PreviewLogger
  readonly options: ResolvedPreviewDistOptions
}

/** Loads the build in `directory`, which must be made for the base; what is wrong with it is a warning. */
export async function createPreviewSite(
  directory: string,
  options: PreviewSiteOptions,
): Promise<PreviewSite> {
  let stamp: string | undefined
  let handler: Promise<Handler | undefined> = Promise.resolve(undefined)

  const current = async (): Promise<Handler | undefined> => {
    const found = await stampOf(join(directory, manifestPath))
    if (found !== stamp) {
      stamp = found
      handler = found === undefined ? Promise.resolve(undefined) : loadHandler(directory, options)
    }
    return handler
  }

  if ((await stampOf(join(directory, manifestPath))) === undefined) {
    warn(options.logger, directory, manifestMissing(directory).problems)
  }
  await current()
  return { current }
}

async function loadHandler(
  directory: string,
  { base, logger, options }: PreviewSiteOptions,
): Promise<Handler | undefined> {
  const tell = (message: string): void => logger.warn(`[serve-dist] ${message}`)
  try {
    const site = await loadSite(directory, { ...options.site, onWarning: tell })
    const builtFor = decodeURIComponent(site.base)
    if (builtFor === base)
      return createHandler(site, { ...options.handler, onProblem: ({ message }) => tell(message) })
    warn(logger, directory, [`it was built for base "${builtFor}", this preview has "${base}"; build again`])
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    warn(logger, directory, error.problems)
  }
  return undefined
}

/** What changes when the manifest is replaced; nothing when there is none. */
async function stampOf(file: string): Promise<string | undefined> {
  const found = await stat(file, { bigint: true }).catch(() => undefined)
  return found && `${found.ino} ${found.size} ${found.mtimeNs}`
}

function warn(logger: PreviewLogger, directory: string, problems: readonly string[]): void {
  const lines = [
    `[serve-dist] this preview is Vite's own and not what production answers: ${directory} cannot be served:`,
    ...problems,
  ]
  logger.warn(lines.join('\n  '))
}
