import type { Environment } from 'vite'
import { isInside } from './is-inside.ts'
import { outputFolders } from './output-folders.ts'

/**
 * Whether the folders of an environment are emptied when a build of it begins, before its modules are known to be
 * sound: Vite 6 does so when it watches, and alone gives plugins no `viteVersion`.
 */
export function emptiesAtStart(
  { config }: Environment,
  meta: { readonly watchMode: boolean; readonly viteVersion?: string },
): boolean {
  const { root, build } = config
  if (!meta.watchMode || meta.viteVersion !== undefined || !build.write) return false
  return build.emptyOutDir ?? outputFolders(config).every((folder) => isInside(folder, root))
}
