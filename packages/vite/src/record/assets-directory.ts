import { posix } from 'node:path'

/** Vite's `build.assetsDir` as the manifest has it: no dots, no slash at its end; `''` for the root or a folder outside. */
export function assetsDirectory(assetsDir: string): string {
  const normal = posix.normalize(assetsDir.replaceAll('\\', '/')).replace(/\/+$/, '')
  const isInside = normal !== '.' && !normal.startsWith('/') && normal !== '..' && !normal.startsWith('../')
  return isInside ? normal : ''
}
