import type { Environment } from 'vite'
import { isInside } from '../record/is-inside.ts'
import { outputFolders } from '../record/output-folders.ts'

/** The plugin of Vite by which it empties folders when a build is about to write; a watching Vite 6 has none. */
const laterEmptying = 'vite:prepare-out-dir'

/**
 * Whether the folders of an environment are emptied when a build of it begins, before its modules are known to be
 * sound: Vite 6 does so when it watches, and the first Vite 7.
 */
export function emptiesAtStart({ config }: Environment, meta: { readonly watchMode: boolean }): boolean {
  const { root, build, plugins } = config
  if (!meta.watchMode || !build.write || plugins.some(({ name }) => name === laterEmptying)) return false
  return build.emptyOutDir ?? outputFolders(config).every((folder) => isInside(folder, root))
}
