import type { PrecompressReport } from '@serve-dist/precompress'
import { compressFolder, type PassOptions } from './compress-folder.ts'
import type { PassContext } from './pass-context.ts'
import { enforceBudgets } from './enforce-budgets.ts'

/** Compresses one folder of a build after the other, and all of them after the pass before. */
export async function compressFolders(
  earlier: Promise<void>,
  context: PassContext,
  folders: readonly string[],
  options: PassOptions,
): Promise<void> {
  await earlier
  const reports: PrecompressReport[] = []
  for (const folder of folders) {
    if (options.signal.aborted) return
    const report = await compressFolder(context, folder, options)
    if (report === undefined) return
    reports.push(report)
  }
  const isLast = options.isRepeated || context.environment.getTopLevelConfig().builder === undefined
  enforceBudgets(context, reports, { budgets: options.budgets, isLast })
}
