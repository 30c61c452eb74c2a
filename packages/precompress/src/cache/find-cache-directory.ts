import { access } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * Where tools keep caches: in `node_modules` beside the nearest `package.json` above the folder; nowhere outside a
 * package.
 */
export async function findCacheDirectory(folder: string): Promise<string | undefined> {
  for (let parent = dirname(folder); ; parent = dirname(parent)) {
    const isPackage = await access(join(parent, 'package.json')).then(
      () => true,
      () => false,
    )
    if (isPackage) return join(parent, 'node_modules/.cache/serve-dist')
    if (parent === dirname(parent)) return undefined
  }
}
