import { isAbsolute, relative, sep } from 'node:path'

/** Whether an absolute path lies inside an absolute folder. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
