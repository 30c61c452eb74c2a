import { chmod, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { temporaryDirectory } from '../../test/support/temporary-directory.ts'
import { openCacheFolder } from './cache-folder.ts'

describe('openCacheFolder', () => {
  test('creates a private folder in a missing or a public folder', async () => {
    const parent = join(await temporaryDirectory(), 'deep', 'cache')
    const folder = await openCacheFolder(parent, 'store')
    expect(dirname(folder)).toBe(parent)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    await chmod(parent, 0o777)
    expect(await openCacheFolder(parent, 'store')).toBe(folder)
  })

  test('rejects its own folder if other users can write to it', async () => {
    const parent = await temporaryDirectory()
    const folder = await openCacheFolder(parent, 'store')
    await chmod(folder, 0o755)
    expect(await openCacheFolder(parent, 'store')).toBe(folder)
    await chmod(folder, 0o775)
    await expect(openCacheFolder(parent, 'store')).rejects.toThrow('other users can write to it (chmod go-w')
  })

  test('rejects a link instead of following it', async () => {
    const [place, parent, elsewhere] = [
      await temporaryDirectory(),
      await temporaryDirectory(),
      await temporaryDirectory(),
    ]
    const folder = await openCacheFolder(place, 'store')
    await symlink(elsewhere, folder.replace(place, parent))
    await expect(openCacheFolder(parent, 'store')).rejects.toThrow('it is not a folder')
    expect(await readdir(elsewhere)).toEqual([])
  })

  test('names the flag if the folder cannot be created', async () => {
    const file = join(await temporaryDirectory(), 'file')
    await writeFile(file, '')
    const folders = [join(file, 'cache'), ...(process.platform === 'linux' ? ['/proc/serve-dist'] : [])]
    for (const folder of folders)
      await expect(openCacheFolder(folder, 'store')).rejects.toThrow('--store-cache <dir>')
  })

  test("creates one folder per store, by default in the user's cache", async () => {
    const caches = await temporaryDirectory()
    await mkdir(join(caches, 'serve-dist'), { mode: 0o777 })
    vi.stubEnv('XDG_CACHE_HOME', caches)
    const folders = await Promise.all(['a', 'b'].map((store) => openCacheFolder(undefined, store)))
    vi.unstubAllEnvs()
    expect(new Set(folders).size).toBe(2)
    for (const folder of folders) expect(dirname(folder)).toBe(join(caches, 'serve-dist'))
  })
})
