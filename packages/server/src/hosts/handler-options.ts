import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { type Fallback, fallbacks, type Fields, OperatorError, s, type Schema } from '@serve-dist/manifest'
import { type SiteHolder, type SiteSource, toSiteHolder } from '../site/site-holder.ts'

/** How a handler treats what the table does not tell. */
export interface HandlerOptions {
  /**
   * What a navigation to an unknown path gets: `spa` the page of a single-page application, `404` the
   * build's own `404.html`, `none` nothing of ours.
   * @default what the site's rules say, else by what the build has: `404` with a `404.html`, `spa` with a `200.html` or the `appType` `spa`, else `none`; as middleware, `none`
   */
  readonly fallback?: Fallback
  /**
   * Whether paths that the build does not have are looked up in its folder: for files that appear after
   * boot. A request for such a path then costs file-system calls. An error with a store, which has no such folder.
   * @default false
   */
  readonly fileSystemFallback?: boolean
  /**
   * Called once for each file that vanished or changed since boot.
   * @default prints the message to standard error
   */
  readonly onProblem?: (problem: Error) => void
}

/** `HandlerOptions` with nothing left open but the fallback, whose default depends on the site. */
export interface ResolvedHandlerOptions
  extends Required<Omit<HandlerOptions, 'fallback'>>, Pick<HandlerOptions, 'fallback'> {}

/** What every host takes. */
export const handlerFields: Fields<ResolvedHandlerOptions> = {
  fallback: s.optional(s.oneOf(fallbacks)),
  // A text such as "false" would switch it on.
  fileSystemFallback: s.withDefault(s.trueOrFalse, () => false),
  onProblem: s.withDefault(s.functionOf(), () => printProblem),
}

export const handlerSchema: Schema<ResolvedHandlerOptions> = s.optionsOf(handlerFields)

/**
 * Fills in the defaults and checks what is given.
 *
 * @throws OperatorError that lists every wrong option, with what was found and what is expected.
 */
export function resolveHandlerOptions(options: HandlerOptions): ResolvedHandlerOptions {
  return s.readOptions(handlerSchema, options)
}

/** What every host begins with. */
export interface Host extends Omit<ResolvedHandlerOptions, 'onProblem'> {
  readonly holder: SiteHolder
  /** Whether a newer build may be found. */
  readonly mayRefresh: boolean
  /** Reports a file that vanished or changed, each once. */
  readonly report: (problem: Error) => void
}

/**
 * Joins a site and the options of its host.
 *
 * @throws OperatorError that lists what is wrong with them.
 */
export function openHost(source: SiteSource, options: HandlerOptions): Host {
  const { onProblem, ...resolved } = resolveHandlerOptions(options)
  const holder = toSiteHolder(source)
  if (resolved.fileSystemFallback && holder.current.store !== undefined) {
    throw new OperatorError('SD_OPTION_INVALID', `fileSystemFallback: ${noFolderProblem}`)
  }
  const mayRefresh = holder.refreshForMissingAsset !== undefined
  return { ...resolved, holder, mayRefresh, report: reportOnce(onProblem) }
}

/** The same options for several hosts, which report a file once between them. */
export function withReportsOnce(options: ResolvedHandlerOptions): ResolvedHandlerOptions {
  return { ...options, onProblem: reportOnce(options.onProblem) }
}

/** Why there is no {@link HandlerOptions.fileSystemFallback} with a store. */
export const noFolderProblem = 'builds come from the store, so there is no folder to look in: leave it out'

function printProblem(problem: Error): void {
  process.stderr.write(`serve-dist: ${escapeMessage(problem.message)}\n`)
}

/** Reports each message once: a file that vanished is asked for again and again. */
function reportOnce(onProblem: (problem: Error) => void): (problem: Error) => void {
  const reported = new Set<string>()
  return (problem) => {
    if (reported.has(problem.message)) return
    reported.add(problem.message)
    onProblem(problem)
  }
}
