import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { manifestPath, parseManifest, stringifyManifest, variantPath } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { describeDirectory } from './describe-directory.ts'
import { pendingPath } from './journal.ts'
import { precompress } from './precompress.ts'
import { makeFolder } from './testing/make-folder.ts'
import { readFolder } from './testing/read-folder.ts'

const script = 'export const answer = () => "forty-two";\n'.repeat(100)

function isHashed(path: string): boolean {
  return path.startsWith('assets/')
}

describe('describeDirectory', () => {
  test('finds what precompress described, without its manifest', async () => {
    const folder = await makeFolder({ 'index.html': script, 'assets/a.js': script, 'b.png': 'b' })
    const { manifest } = await precompress(folder, { isHashed, base: '/app/' })
    await rm(join(folder, manifestPath))
    const before = await readFolder(folder)
    const described = await describeDirectory(folder, { isHashed, base: '/app/' })
    expect(described.buildId).toBe(manifest.buildId)
    expect(await readFolder(folder)).toEqual(before)
  })

  test('takes a sibling for a variant only where its original is there', async () => {
    const names = ['a.js', 'a.js.br', 'a.js.br.gz', 'data.csv.gz', 'b.js.zst', '.br']
    const folder = await makeFolder(Object.fromEntries(names.map((name) => [name, name])))
    const manifest = await describeDirectory(folder)
    expect(manifest.files.map(({ path, variants }) => [path, variants.map(({ coding }) => coding)])).toEqual([
      ['a.js', ['br']],
      ['a.js.br.gz', []],
      ['b.js.zst', []],
      ['data.csv.gz', []],
    ])
    expect(variantPath('a.js', 'br')).toBe('a.js.br')
    expect(parseManifest(stringifyManifest(manifest))).toEqual(manifest)
  })

  test('leaves out what is excluded', async () => {
    const folder = await makeFolder({ 'a.js': script, 'a.js.map': script })
    const { files } = await describeDirectory(folder, { exclude: ['**/*.map'] })
    expect(files.map(({ path }) => path)).toEqual(['a.js'])
  })

  test('refuses a folder in which a pass was killed', async () => {
    const folder = await makeFolder({ 'a.js': script, 'a.js.br': 'of an earlier build' })
    await mkdir(join(folder, '.serve-dist'))
    await writeFile(join(folder, pendingPath), '{}')
    await expect(describeDirectory(folder)).rejects.toThrow(
      `${folder}: the last compression did not come to its end (.serve-dist/pending.json is there); build or compress it again`,
    )
  })

  test('names a folder that is not there', async () => {
    await expect(describeDirectory('/nowhere/at/all')).rejects.toThrow('there is no such folder')
  })
})
