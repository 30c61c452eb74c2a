import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

async function buildOf(release: number): Promise<string> {
  const name = `assets/app-${release}.js`
  const files = {
    'index.html': `<script src="/${name}"></script>`,
    [name]: compressibleText(5000, `r${release}`),
  }
  return await buildFixture(files, { assetsDirectory: 'assets', isHashed: (path) => path === name })
}

describe('serve-dist publish --export', () => {
  test('writes the build with the hashed files that the store keeps', async () => {
    const [home, cwd] = [await temporaryDirectory(), await temporaryDirectory()]
    const run = async (
      folder: string,
      ...args: readonly string[]
    ): ReturnType<typeof spawnCommand>['exited'] =>
      await spawnCommand(['publish', folder, '--store', join(home, 'store'), ...args], {
        cwd,
        env: { XDG_CACHE_HOME: join(home, 'cache') },
      }).exited
    const site = join(home, 'site')
    await run(await buildOf(1))
    const dry = await run(await buildOf(2), '--export', site, '--dry-run')
    expect([dry.code, (await readdir(home)).includes('site')]).toEqual([0, false])
    const { code, stdout, stderr } = await run(await buildOf(2), '--export', site)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`exported to ${site}: 5 files (1 from earlier builds) and 6 variants, `)
    const assets = await readdir(join(site, 'public/assets'))
    expect(assets.filter((name) => name.endsWith('.js')).toSorted()).toEqual(['app-1.js', 'app-2.js'])
    expect(assets).toContain('app-1.js.br')
    expect(await readFile(join(site, 'public/assets/app-1.js'), 'utf8')).toBe(compressibleText(5000, 'r1'))
    expect(await readFile(join(site, 'public/index.html'), 'utf8')).toContain('app-2.js')
    const before = await readFile(join(home, 'store/current.json'), 'utf8')
    const wrong = await run(await buildOf(3), '--export', home)
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringMatching(/^serve-dist: SD_FOLDER_WRONG: .*not empty.*\n$/),
    ])
    expect(await readFile(join(home, 'store/current.json'), 'utf8')).toBe(before)
  })
})
