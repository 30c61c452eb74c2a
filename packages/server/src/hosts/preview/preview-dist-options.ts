import { OperatorError } from '@serve-dist/manifest'
import { handlerChecks, type HandlerOptions } from '../handler-options.ts'
import { loadChecks, type LoadSiteOptions } from '../../load/load-options.ts'
import { readOptions } from '../../read-options.ts'

/** Options of the preview; the folder, the base and the logger are those of Vite's configuration. */
export interface PreviewDistOptions
  extends Omit<HandlerOptions, 'onProblem'>, Omit<LoadSiteOptions, 'onWarning'> {}

/** The same, by who takes it, checked. */
export interface ResolvedPreviewDistOptions {
  readonly handler: HandlerOptions
  readonly site: LoadSiteOptions
}

const { onProblem: _problem, ...forHandler } = handlerChecks
const { onWarning: _warning, ...forSite } = loadChecks
const checks = { ...forHandler, ...forSite }

/**
 * Checks the options when the configuration is read, not when a preview starts.
 *
 * @throws OperatorError that lists every wrong option, with what was found and what is expected.
 */
export function resolvePreviewDistOptions(options: PreviewDistOptions): ResolvedPreviewDistOptions {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new OperatorError(
      'SD_OPTION_INVALID',
      `previewDist: expected an object such as { fallback: 'spa' }, found ${JSON.stringify(options)}`,
    )
  }
  try {
    const { fallback, fileSystemFallback, ...site } = readOptions<PreviewDistOptions>(options, {}, checks)
    return {
      handler: {
        ...(fallback !== undefined && { fallback }),
        ...(fileSystemFallback !== undefined && { fileSystemFallback }),
      },
      // What the manifest does not list is served from the disk.
      site: fileSystemFallback === true ? { ...site, unlisted: 'ignore' } : site,
    }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    throw new OperatorError(
      error.code,
      error.problems.map((problem) => `previewDist option ${problem}`),
      { cause: error },
    )
  }
}
