import { OperatorError } from '@serve-dist/manifest'
import { createProgressLine } from '@serve-dist/foundation/terminal/create-progress-line'
import { finish, type PrecompressReport } from '@serve-dist/precompress'
import { checkBudgets, describeBudget, formatPass } from '@serve-dist/report'
import colors from 'picocolors'
import { checkFolderAtExit } from './check-at-exit.ts'
import type { PassRequest } from './pass-request.ts'

/** Compresses the final folders of a build one after the other, and weighs them together. */
export async function runPasses(requests: readonly PassRequest[]): Promise<void> {
  const reports: PrecompressReport[] = []
  for (const request of requests) {
    reports.push(await runPass(request))
    if (request.isWatched !== true) checkFolderAtExit(request)
  }
  const [first] = requests
  if (first !== undefined && first.isWatched !== true) enforceBudgets(reports, first)
}

async function runPass(request: PassRequest): Promise<PrecompressReport> {
  const { folder, settings, log, selection, drawsProgress, isWatched, ...known } = request
  const progress = drawsProgress === true ? createProgressLine(process.stdout, 'compressing') : undefined
  try {
    const report = await finish(folder, {
      ...settings.precompress,
      ...known,
      ...selection,
      ...(isWatched === true && { codings: [] }),
      onProgress: (state) => progress?.update(state),
      onWarning: (message) => {
        progress?.clear()
        log.warn(`[serve-dist] ${message}`)
      },
    })
    progress?.clear()
    // A folder that another build looks at again is no news.
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

/** Fails a build that is over a budget. A budget that no file counts towards is a warning. */
function enforceBudgets(
  reports: readonly PrecompressReport[],
  { settings: { budgets }, log }: PassRequest,
): void {
  const files = reports.flatMap(({ manifest }) => manifest.files)
  // All passes have the rules of one plugin.
  const results = checkBudgets({ ...reports[0]?.manifest, files }, budgets)
  for (const result of results) {
    if (result.outcome === 'unmatched') log.warn(`[serve-dist] budget ${describeBudget(result)}`)
  }
  const exceeded = results.filter(({ outcome }) => outcome === 'exceeded').map(describeBudget)
  if (exceeded.length > 0) {
    const message = ['This build weighs more than its budgets allow:', ...exceeded].join('\n  ')
    throw Object.assign(new Error(message), { stack: message })
  }
}

/** What an operator can mend is shown without stack and cause, which Vite would print as well. */
export function withoutStack(error: unknown, heading?: string): unknown {
  if (!(error instanceof OperatorError)) return error
  const shown = new OperatorError(error.code, error.problems, heading === undefined ? {} : { heading })
  return Object.assign(shown, { stack: shown.message })
}
