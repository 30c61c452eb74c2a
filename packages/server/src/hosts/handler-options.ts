import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { type Fallback, fallbacks, type Fields, OperatorError, s, type Schema } from '@serve-dist/manifest'
import { refuseProxying } from '../rules/refuse-proxying.ts'
import { type SiteHolder, type SiteSource, toSiteHolder } from '../site/site-holder.ts'

/** Options of a handler for paths that are not in the table. */
export interface HandlerOptions {
  /**
   * The answer to a navigation to an unknown path: `spa` (the page of a single-page application), `404`
   * (the build's `404.html`) or `none` (a plain 404, or the next handler).
   * @default the rules of the site, then by the build: `404` with a `404.html`, `spa` with a `200.html` or
   *   the `appType` `spa`, otherwise `none`; `none` as middleware without rules
   */
  readonly fallback?: Fallback
  /**
   * Whether to look up unknown paths in the build's folder, for files that appear after the start. Such
   * requests cost file-system calls. Invalid for a store, which has no folder.
   * @default false
   */
  readonly fileSystemFallback?: boolean
  /**
   * Called once for each file that was deleted or changed since the start.
   * @default prints the message to standard error
   */
  readonly onProblem?: (problem: Error) => void
}

/** `HandlerOptions` with defaults. The default of the fallback depends on the site. */
export interface ResolvedHandlerOptions
  extends Required<Omit<HandlerOptions, 'fallback'>>, Pick<HandlerOptions, 'fallback'> {}

/** The options of every host. */
export const handlerFields: Fields<ResolvedHandlerOptions> = {
  fallback: s.optional(s.oneOf(fallbacks)),
  // Strict, because the string "false" is truthy.
  fileSystemFallback: s.withDefault(s.trueOrFalse, () => false),
  onProblem: s.withDefault(s.functionOf(), () => printProblem),
}

export const handlerSchema: Schema<ResolvedHandlerOptions> = s.optionsOf(handlerFields)

/**
 * Validates the options and fills in the defaults.
 *
 * @throws OperatorError that lists each wrong option with its value and the expected values.
 */
export function resolveHandlerOptions(options: HandlerOptions): ResolvedHandlerOptions {
  return s.readOptions(handlerSchema, options)
}

/** The site and the resolved options of a host. */
export interface Host extends Omit<ResolvedHandlerOptions, 'onProblem'> {
  readonly holder: SiteHolder
  /** Whether a newer build may appear. */
  readonly mayRefresh: boolean
  /** Reports a deleted or changed file once. */
  readonly report: (problem: Error) => void
}

/**
 * Combines a site with the options of its host.
 *
 * @param canProxy - whether the host can forward requests.
 * @throws OperatorError that lists the wrong options, or if a rule proxies and the host cannot.
 */
export function openHost(source: SiteSource, options: HandlerOptions, canProxy = false): Host {
  const { onProblem, ...resolved } = resolveHandlerOptions(options)
  const holder = toSiteHolder(source)
  if (resolved.fileSystemFallback && holder.current.store !== undefined) {
    throw new OperatorError('SD_OPTION_INVALID', `fileSystemFallback: ${noFolderProblem}`)
  }
  if (!canProxy) refuseProxying(holder.current)
  const mayRefresh = holder.refreshForMissingAsset !== undefined
  return { ...resolved, holder, mayRefresh, report: reportOnce(onProblem) }
}

/** Returns options for several hosts, which together report each file once. */
export function withReportsOnce(options: ResolvedHandlerOptions): ResolvedHandlerOptions {
  return { ...options, onProblem: reportOnce(options.onProblem) }
}

/** The reason why {@link HandlerOptions.fileSystemFallback} is invalid for a store. */
export const noFolderProblem = 'builds from a store have no folder. Remove this option.'

export function printProblem(problem: Error): void {
  process.stderr.write(`serve-dist: ${escapeMessage(problem.message)}\n`)
}

/** Reports each message once, because clients request a deleted file repeatedly. */
function reportOnce(onProblem: (problem: Error) => void): (problem: Error) => void {
  const reported = new Set<string>()
  return (problem) => {
    if (reported.has(problem.message)) return
    reported.add(problem.message)
    onProblem(problem)
  }
}
