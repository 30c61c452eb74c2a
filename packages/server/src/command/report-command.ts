import type { ReportCommandOptions } from '@serve-dist/report'
import { SiteError } from '../site/site-error.ts'

/** Weighs a build; exit code 1 where it fails a budget. Who only serves never loads what this needs. */
export async function reportCommand(directory: string, options: ReportCommandOptions): Promise<void> {
  const report = await import('@serve-dist/report')
  try {
    process.exitCode = await report.reportCommand(directory, options)
  } catch (error) {
    if (error instanceof report.ReportError) throw new SiteError(error.problems, { cause: error })
    throw error
  }
}
