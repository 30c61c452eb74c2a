import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { manifestPath, pendingPath } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { markUnfinished, removeVariants } from '@serve-dist/precompress'
import type { Environment } from 'vite'
import type { BuildState } from '../record/build-state.ts'
import { outermostFolders, outputFolders } from '../record/output-folders.ts'

/**
 * The folders that an environment is about to change.
 *
 * @param folder - that of the output which begins; all that are configured when none does yet.
 */
export function foldersToChange({ config }: Environment, folder?: string): string[] {
  const configured = outputFolders(config)
  // Vite empties all at once. If a plugin moved the output, nobody knows what happens to the others.
  const isMoved = folder !== undefined && !configured.includes(folder)
  return config.build.write ? outermostFolders(isMoved ? [folder] : configured) : []
}

/**
 * Marks these folders: if the build is killed or fails from here on, the server serves no part of it.
 *
 * @param isEmptied - whether Vite has emptied them already, where it does.
 */
export async function markFolders(state: BuildState, folders: string[], isEmptied: boolean): Promise<void> {
  for (const folder of folders) {
    state.marked.add(folder)
    const marking = state.inTurn(async () => {
      await markUnfinished(folder)
      if (isEmptied) await removeVariants(folder)
    })
    // Before its output begins, Vite may still take away what stands in the way.
    await (isEmptied ? marking : marking.catch(() => {}))
  }
}

/** Whether an environment's folders have lost what we wrote: some Vites empty them when a watched build begins. */
export function wereFoldersEmptied({ config }: Environment): boolean {
  return !outputFolders(config).every(isMarkedFolder)
}

/** Whether a folder has our manifest or our mark. */
export function isMarkedFolder(folder: string): boolean {
  return existsSync(join(folder, manifestPath)) || existsSync(join(folder, pendingPath))
}

/** Says of the folders of a build that failed that they stay marked. */
export async function warnAboutMarkedFolders({ logger }: Environment, state: BuildState): Promise<void> {
  const marked = [...state.marked]
  state.marked.clear()
  for (const folder of marked) {
    // Vite may have emptied it since. The user must see the failure of the build, not this one in its place.
    await state
      .inTurn(async () => await markUnfinished(folder))
      .catch((error: unknown) => logger.warn(`[serve-dist] ${reasonOf(error)}`))
    logger.warn(`[serve-dist] the build did not finish: ${folder} is not served until one does`)
  }
}
