import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { manifestPath, parseManifest, pendingPath } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { markUnfinished, removeVariants } from '../src/commit/build-writer.ts'
import { describeDirectory } from '../src/compression/describe-directory.ts'
import { precompress } from '../src/compression/precompress.ts'
import { makeFolder } from './support/make-folder.ts'
import { readFolder } from './support/read-folder.ts'

const script = 'export const answer = () => "forty-two";\n'.repeat(100)
const build = { 'a.js': script, 'same.js': `${script}//`, 'data.csv.gz': 'mine' }

async function stateOf(folder: string): Promise<string[]> {
  return [...(await readFolder(folder)).keys()].filter((path) => path.startsWith('.'))
}

describe('markUnfinished', () => {
  test('makes the server reject the folder, and keeps all facts for the next compression', async () => {
    const folder = await makeFolder(build)
    const { manifest } = await precompress(folder)
    const past = '2020-02-02T02:02:02Z'
    const text = (await readFolder(folder)).get(manifestPath)?.toString() ?? ''
    await writeFile(
      join(folder, manifestPath),
      text.replaceAll(/"lastModified":"[^"]+"/g, `"lastModified":"${past}"`),
    )
    await markUnfinished(folder)
    await writeFile(join(folder, 'a.js'), script.replaceAll('forty', 'fifty'))
    await expect(describeDirectory(folder)).rejects.toThrow('did not finish')

    const next = await precompress(folder, { codings: ['br'] })
    expect(next.warnings).toEqual([])
    expect(next.removed).toEqual(['a.js.gz', 'a.js.zst', 'same.js.gz', 'same.js.zst'])
    const times = parseManifest(JSON.stringify(next.manifest)).files.map(
      ({ lastModified }) => lastModified === past,
    )
    expect(times).toEqual([false, true, true])
    expect(next.manifest.buildId).not.toBe(manifest.buildId)
  })

  test('makes the server reject the folder until the next compression, with or without a manifest', async () => {
    const folder = await makeFolder(build)
    for (const earlier of [false, true]) {
      expect(await stateOf(folder)).toEqual(earlier ? [manifestPath] : [])
      await markUnfinished(folder)
      expect(await stateOf(folder)).toEqual([pendingPath])
      await expect(describeDirectory(folder)).rejects.toThrow('did not finish')
      const { warnings, manifest } = await precompress(folder)
      expect([warnings, manifest.files.length]).toEqual([[], 3])
    }
    await markUnfinished(folder)
    expect((await precompress(folder, { codings: ['br'] })).removed).toHaveLength(4)
  })

  test('keeps an existing mark and its facts', async () => {
    const folder = await makeFolder(build)
    await precompress(folder)
    await markUnfinished(folder)
    await markUnfinished(folder)
    expect(await stateOf(folder)).toEqual([pendingPath])
    expect((await precompress(folder, { codings: ['gzip'] })).removed).toHaveLength(4)
  })

  test('creates a missing folder', async () => {
    const folder = join(await makeFolder({}), 'a/b')
    await markUnfinished(folder)
    expect(await stateOf(folder)).toEqual([pendingPath])
  })

  test('names a folder that is not writable', async () => {
    const folder = await makeFolder({ a: 'a file' })
    await expect(markUnfinished(join(folder, 'a'))).rejects.toThrow(
      `${join(folder, 'a')}: cannot write to this folder`,
    )
  })
})

describe('removeVariants', () => {
  test('removes unchanged variants of serve-dist, and the next compression writes them again', async () => {
    const folder = await makeFolder(build)
    await precompress(folder)
    await writeFile(join(folder, 'same.js.br'), 'changed by somebody')
    await markUnfinished(folder)
    await removeVariants(folder)
    expect([...(await readFolder(folder)).keys()].toSorted()).toEqual(
      [pendingPath, 'a.js', 'data.csv.gz', 'same.js', 'same.js.br'].toSorted(),
    )
    const { manifest } = await precompress(folder)
    const described = manifest.files.find(({ path }) => path === 'a.js')
    expect(described?.variants.map(({ coding }) => coding)).toEqual(['zstd', 'br', 'gzip'])
  })
})
