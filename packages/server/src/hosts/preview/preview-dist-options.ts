import { OperatorError, s } from '@serve-dist/manifest'
import { handlerFields, type HandlerOptions } from '../handler-options.ts'
import { loadFields, type LoadSiteOptions } from '../../load/load-options.ts'

/** Options of the preview. The folder, the base and the logger come from Vite's configuration. */
export interface PreviewDistOptions
  extends Omit<HandlerOptions, 'onProblem'>, Omit<LoadSiteOptions, 'onWarning'> {}

/** The checked options for the handler and for the site. */
export interface ResolvedPreviewDistOptions {
  readonly handler: HandlerOptions
  readonly site: LoadSiteOptions
}

const { onProblem: _problem, ...forHandler } = handlerFields
const { onWarning: _warning, ...forSite } = loadFields
const previewSchema = s.optionsOf({ ...forHandler, ...forSite })

/**
 * Checks the options when Vite reads its configuration, before a preview starts.
 *
 * @throws OperatorError that lists each wrong option with its value and the expected values.
 */
export function resolvePreviewDistOptions(options: PreviewDistOptions): ResolvedPreviewDistOptions {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new OperatorError(
      'SD_OPTION_INVALID',
      `previewDist: expected an object such as { fallback: 'spa' }, found ${JSON.stringify(options)}`,
    )
  }
  try {
    s.readOptions(previewSchema, options)
    const { fallback, fileSystemFallback, ...site } = options
    return {
      handler: {
        ...(fallback !== undefined && { fallback }),
        ...(fileSystemFallback !== undefined && { fileSystemFallback }),
      },
      // Unlisted files are expected if they are served from the disk.
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
