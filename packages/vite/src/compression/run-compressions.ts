import { OperatorError } from '@serve-dist/manifest'
import { createProgressLine } from '@serve-dist/foundation/terminal/create-progress-line'
import { finish, type PrecompressReport, warnAboutUnmatchedGlobs } from '@serve-dist/precompress'
import { checkBudgets, describeBudget, formatPass } from '@serve-dist/report'
import colors from 'picocolors'
import { checkFolderAtExit } from './check-at-exit.ts'
import type { CompressionRequest } from './compression-request.ts'

/** Compresses the final folders of a build one after the other, then checks budgets for all of them. */
export async function runCompressions(requests: readonly CompressionRequest[]): Promise<void> {
  const reports: PrecompressReport[] = []
  for (const request of requests) {
    reports.push(await runCompression(request))
    if (request.isWatched !== true) checkFolderAtExit(request)
  }
  const [first] = requests
  if (first !== undefined && first.isWatched !== true) enforceBudgets(reports, first)
}

async function runCompression(request: CompressionRequest): Promise<PrecompressReport> {
  const { folder, settings, log, selection, drawsProgress, isWatched, ...known } = request
  const progress = drawsProgress === true ? createProgressLine(process.stdout, 'compressing') : undefined
  const warn = (message: string): void => {
    progress?.clear()
    log.warn(`[serve-dist] ${message}`)
  }
  try {
    const report = await finish(folder, {
      ...settings.precompress,
      ...known,
      ...selection,
      ...(isWatched === true && { codings: [] }),
      onProgress: (state) => progress?.update(state),
      onWarning: warn,
    })
    const { include, exclude, serving } = settings.precompress
    // Some types of files exist in some builds only, such as source maps.
    const left = exclude?.filter((glob) => !/^(\*\*\/)?\*\.[^/]+$/.test(glob))
    await warnAboutUnmatchedGlobs(folder, { include, exclude: left, immutable: serving?.immutable }, warn)
    progress?.clear()
    // Do not print the table if nothing changed.
    const isNews = isWatched !== true && report.written.length + report.removed.length > 0
    if (isNews) log.info(formatPass(report, { colors: colors.isColorSupported }))
    return report
  } catch (cause) {
    progress?.clear()
    const heading = `serve-dist could not compress ${folder}:`
    if (!(cause instanceof OperatorError)) throw new Error(`${heading}\n  ${String(cause)}`, { cause })
    throw withoutStack(cause, heading)
  }
}

/** Fails a build that exceeds a budget. Warns about a budget without files. */
function enforceBudgets(
  reports: readonly PrecompressReport[],
  { settings: { budgets }, log }: CompressionRequest,
): void {
  const files = reports.flatMap(({ manifest }) => manifest.files)
  // All folders have the rules of the same plugin.
  const results = checkBudgets({ ...reports[0]?.manifest, files }, budgets)
  for (const result of results) {
    if (result.outcome === 'unmatched') log.warn(`[serve-dist] budget ${describeBudget(result)}`)
  }
  const exceeded = results.filter(({ outcome }) => outcome === 'exceeded').map(describeBudget)
  if (exceeded.length > 0) {
    const message = ['This build exceeds its budgets:', ...exceeded].join('\n  ')
    throw Object.assign(new Error(message), { stack: message })
  }
}

/** Removes stack and cause from an `OperatorError`, because Vite would print them. */
export function withoutStack(error: unknown, heading?: string): unknown {
  if (!(error instanceof OperatorError)) return error
  const shown = new OperatorError(error.code, error.problems, heading === undefined ? {} : { heading })
  return Object.assign(shown, { stack: shown.message })
}
