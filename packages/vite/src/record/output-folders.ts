import { dirname, isAbsolute, posix, relative, resolve, sep } from 'node:path'
import type { Environment } from 'vite'

/** Where one output goes. */
export interface OutputPlace {
  readonly dir?: string | undefined
  readonly file?: string | undefined
}

/** The folder of one output, absolute. */
export function folderOf({ dir, file }: OutputPlace): string {
  return resolve(dir ?? dirname(file ?? ''))
}

/** The folders that the configuration of an environment gives its outputs. */
export function outputFolders({ root, build }: Environment['config']): string[] {
  const outputs = [build.rollupOptions.output ?? {}].flat()
  return outputs.map(({ dir }) => (dir === undefined ? resolve(root, build.outDir) : resolve(dir)))
}

/** The folders, absolute, that lie inside no other of them. */
export function outermostFolders(folders: Iterable<string>): string[] {
  const all = [...new Set(folders)]
  return all.filter((folder) => !all.some((other) => other !== folder && isInside(folder, other)))
}

/** Whether an absolute path lies inside an absolute folder. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** Vite's `build.assetsDir` as the manifest has it: no dots, no slash at its end; `''` for the root or a folder outside. */
export function assetsDirectory(assetsDir: string): string {
  const normal = posix.normalize(assetsDir.replaceAll('\\', '/')).replace(/\/+$/, '')
  const isBelow = normal !== '.' && !normal.startsWith('/') && normal !== '..' && !normal.startsWith('../')
  return isBelow ? normal : ''
}
