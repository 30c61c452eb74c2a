import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { manifestPath } from '@serve-dist/manifest'
import { precompress } from '@serve-dist/precompress'
import { describe, expect, test } from 'vitest'
import { describeInheritance, inheritOptions, readEarlierManifest } from './compress-command.ts'
import { buildFixture, writeFixture } from '../../test/support/build-fixture.ts'
import { compressibleText } from '../../test/support/compressible-text.ts'

const files = {
  'index.html': 'page',
  'assets/app-1a2b3c4d.js': compressibleText(2000),
  'assets/lib-5e6f7a8b.js': compressibleText(3000),
}

describe('inheritOptions', () => {
  test('keeps what only the build knew, and calls nothing immutable that has changed', async () => {
    const directory = await buildFixture(files, {
      base: '/app/',
      appType: 'mpa',
      assetsDirectory: 'assets',
      serving: { prefer: 'smallest' },
      isHashed: (path) => path.startsWith('assets/'),
      linksOf: () => [{ path: 'assets/app-1a2b3c4d.js', rel: 'modulepreload', inDocument: false }],
    })
    const earlier = await readEarlierManifest(directory)
    await writeFile(join(directory, 'assets/lib-5e6f7a8b.js'), compressibleText(4000))
    await writeFile(join(directory, 'late.html'), 'prerendered')

    const { manifest } = await precompress(directory, inheritOptions(earlier))
    expect(manifest).toMatchObject({
      base: '/app/',
      appType: 'mpa',
      assetsDirectory: 'assets',
      serving: { prefer: 'smallest' },
    })
    expect(manifest.files.map(({ path, cache, links }) => [path, cache, links?.length ?? 0])).toEqual([
      ['assets/app-1a2b3c4d.js', 'immutable', 0],
      ['assets/lib-5e6f7a8b.js', 'revalidate', 0],
      ['index.html', 'revalidate', 1],
      ['late.html', 'revalidate', 0],
    ])
    expect(describeInheritance(earlier, manifest)).toEqual([
      expect.stringMatching(/^assets\/lib-5e6f7a8b\.js changed under a hashed name/),
      expect.stringMatching(/^late\.html was not part of the build before/),
    ])
  })

  test('has nothing to say of a folder without a manifest, or with one that cannot be read', async () => {
    const directory = await writeFixture(files)
    expect(inheritOptions(await readEarlierManifest(directory))).toEqual({})
    await precompress(directory)
    await writeFile(join(directory, manifestPath), '{')
    expect(await readEarlierManifest(directory)).toBeUndefined()
    await rm(directory, { recursive: true })
    expect(await readEarlierManifest(directory)).toBeUndefined()
  })
})
