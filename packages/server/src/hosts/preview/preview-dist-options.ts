import { OperatorError } from '@serve-dist/manifest'
import { type HandlerOptions, resolveHandlerOptions } from '../handler-options.ts'
import { type LoadSiteOptions, resolveLoadSiteOptions } from '../../load/load-options.ts'
import { withDefaults } from '../../with-defaults.ts'

/** Options of the preview; the folder, the base and the logger are those of Vite's configuration. */
export interface PreviewDistOptions
  extends Omit<HandlerOptions, 'onProblem'>, Omit<LoadSiteOptions, 'onWarning'> {}

/** The same, by who takes it, checked. */
export interface ResolvedPreviewDistOptions {
  readonly handler: HandlerOptions
  readonly site: LoadSiteOptions
}

const handlerOptionNames = ['fallback', 'fileSystemFallback']
const siteOptionNames = ['verify', 'memoryBudget', 'largestBody', 'rules']

/**
 * Checks the options when the configuration is read, not when a preview starts.
 *
 * @throws OperatorError that names the option, what was found and what is expected.
 */
export function resolvePreviewDistOptions(options: PreviewDistOptions): ResolvedPreviewDistOptions {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new OperatorError(
      'SD_OPTION_INVALID',
      `previewDist: expected an object such as { fallback: 'spa' }, found ${JSON.stringify(options)}`,
    )
  }
  try {
    const given = withDefaults({}, options, [...handlerOptionNames, ...siteOptionNames])
    const handler = pick(given, handlerOptionNames)
    const site = pick(given, siteOptionNames)
    resolveHandlerOptions(handler)
    resolveLoadSiteOptions(site)
    return { handler, site }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    throw new OperatorError(
      error.code,
      error.problems.map((problem) => `previewDist option ${problem}`),
      { cause: error },
    )
  }
}

function pick(options: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name)))
}
