import { markUnfinished } from '@serve-dist/precompress'
import type { Environment } from 'vite'
import { outermostFolders } from '../record/outermost-folders.ts'
import { outputFolders } from '../record/output-folders.ts'

/**
 * Marks the folders that get a pass when an environment has written its outputs, now that Vite has emptied them:
 * of a build that is killed or fails from here on, no part is served. Answers which they are.
 *
 * @param folder - that of the output which begins; all that are configured when none does yet.
 */
export async function markFolders({ config }: Environment, folder?: string): Promise<readonly string[]> {
  if (!config.build.write) return []
  const configured = outputFolders(config)
  // Vite empties all at once. Where a plugin moved the output, who knows what becomes of the others.
  const folders = outermostFolders(
    folder === undefined || configured.includes(folder) ? configured : [folder],
  )
  for (const marked of folders) await markUnfinished(marked)
  return folders
}
