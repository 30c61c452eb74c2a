import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { manifestPath, pendingPath } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { markUnfinished, removeVariants } from '@serve-dist/precompress'
import type { Environment } from 'vite'
import type { BuildState } from '../record/build-state.ts'
import { outermostFolders, outputFolders } from '../record/output-folders.ts'

/**
 * Returns the folders that an environment is about to change.
 *
 * @param folder - folder of the output that starts. Without it, all configured folders.
 */
export function foldersToChange({ config }: Environment, folder?: string): string[] {
  const configured = outputFolders(config)
  // Vite empties all folders at once. If a plugin moved the output, the other folders are unknown.
  const isMoved = folder !== undefined && !configured.includes(folder)
  return config.build.write ? outermostFolders(isMoved ? [folder] : configured) : []
}

/**
 * Marks folders, so that the server rejects them if the build is killed or fails.
 *
 * @param isEmptied - whether Vite has already emptied the folders.
 */
export async function markFolders(state: BuildState, folders: string[], isEmptied: boolean): Promise<void> {
  for (const folder of folders) {
    state.marked.add(folder)
    const marking = state.inTurn(async () => {
      await markUnfinished(folder)
      if (isEmptied) await removeVariants(folder)
    })
    // Before the output starts, a failure does not matter: Vite may still remove the obstacle.
    await (isEmptied ? marking : marking.catch(() => {}))
  }
}

/**
 * Returns whether Vite removed the marks of an environment's folders. Some versions empty them when a watched build
 * starts.
 */
export function wereFoldersEmptied({ config }: Environment): boolean {
  return !outputFolders(config).every(isMarkedFolder)
}

/** Returns whether a folder has a manifest or a mark. */
export function isMarkedFolder(folder: string): boolean {
  return existsSync(join(folder, manifestPath)) || existsSync(join(folder, pendingPath))
}

/** Warns that the folders of a failed build stay marked. */
export async function warnAboutMarkedFolders({ logger }: Environment, state: BuildState): Promise<void> {
  const marked = [...state.marked]
  state.marked.clear()
  for (const folder of marked) {
    // Vite may have emptied the folder since. A failure here must not hide the failure of the build.
    await state
      .inTurn(async () => await markUnfinished(folder))
      .catch((error: unknown) => logger.warn(`[serve-dist] ${reasonOf(error)}`))
    logger.warn(`[serve-dist] the build did not finish, so the server rejects ${folder}. Build again.`)
  }
}
