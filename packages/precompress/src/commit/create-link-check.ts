import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Tells whether a path of the folder, whose own path is a real one, leads through no symlink. */
export function createLinkCheck(folder: string): (path: string) => boolean {
  const known = new Map<string, boolean>()
  return (path) => {
    const parent = join(folder, dirname(path))
    const isReal = known.get(parent) ?? isRealPath(parent)
    known.set(parent, isReal)
    return isReal
  }
}

function isRealPath(path: string): boolean {
  try {
    return realpathSync(path) === path
  } catch {
    return false
  }
}
