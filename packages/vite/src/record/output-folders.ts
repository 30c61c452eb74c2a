import { dirname, isAbsolute, posix, relative, resolve, sep } from 'node:path'
import type { Environment } from 'vite'

/** The place of an output. */
export interface OutputPlace {
  readonly dir?: string | undefined
  readonly file?: string | undefined
}

/** Returns the folder of an output, absolute. */
export function folderOf({ dir, file }: OutputPlace): string {
  return resolve(dir ?? dirname(file ?? ''))
}

/** Returns the configured output folders of an environment. */
export function outputFolders({ root, build }: Environment['config']): string[] {
  const outputs = [build.rollupOptions.output ?? {}].flat()
  return outputs.map(({ dir }) => (dir === undefined ? resolve(root, build.outDir) : resolve(dir)))
}

/** Returns the folders that are in no other one. All paths are absolute. */
export function outermostFolders(folders: Iterable<string>): string[] {
  const all = [...new Set(folders)]
  return all.filter((folder) => !all.some((other) => other !== folder && isInside(folder, other)))
}

/** Returns whether an absolute path is inside an absolute folder. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/**
 * Normalizes Vite's `build.assetsDir` for the manifest: no dots, no trailing slash; `''` for the root or a folder
 * outside.
 */
export function assetsDirectory(assetsDir: string): string {
  const normal = posix.normalize(assetsDir.replaceAll('\\', '/')).replace(/\/+$/, '')
  const isBelow = normal !== '.' && !normal.startsWith('/') && normal !== '..' && !normal.startsWith('../')
  return isBelow ? normal : ''
}
