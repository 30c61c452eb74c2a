import type { ReportCommandOptions } from '@serve-dist/report'
import { loadOptional } from '../load-optional.ts'

/** Weighs a build; exit code 1 where it fails a budget. Who only serves never loads what this needs. */
export async function reportCommand(directory: string, options: ReportCommandOptions): Promise<void> {
  const needed = { name: '@serve-dist/report', neededBy: 'serve-dist report' }
  const report = await loadOptional(needed, async () => await import('@serve-dist/report'))
  process.exitCode = await report.reportCommand(directory, options)
}
