import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import {
  type Manifest,
  manifestPath,
  parseManifest,
  pendingPath,
  stringifyManifest,
  variantPath,
} from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { describeDirectory } from './describe-directory.ts'
import { precompress } from './precompress.ts'
import { makeFolder } from '../../test/support/make-folder.ts'
import { readFolder } from '../../test/support/read-folder.ts'

const script = 'export const answer = () => "forty-two";\n'.repeat(100)

function isHashed(path: string): boolean {
  return path.startsWith('assets/')
}

function codingsOf({ files }: Manifest): unknown {
  return files.map(({ path, variants }) => [path, variants.map(({ coding }) => coding)])
}

describe('describeDirectory', () => {
  test('returns the same manifest as precompress, without reading one', async () => {
    const folder = await makeFolder({ 'index.html': script, 'assets/a.js': script, 'b.png': 'b' })
    const { manifest } = await precompress(folder, { isHashed, base: '/app/' })
    await rm(join(folder, manifestPath))
    const before = await readFolder(folder)
    const described = await describeDirectory(folder, { isHashed, base: '/app/', policies: true })
    expect(described.buildId).toBe(manifest.buildId)
    expect(await readFolder(folder)).toEqual(before)
  })

  test('accepts a sibling as a variant only if its original exists', async () => {
    const variant = brotliCompressSync(script)
    const folder = await makeFolder({
      'a.js': script,
      'a.js.br': variant,
      'a.js.br.gz': gzipSync(variant),
      'data.csv.gz': gzipSync('data'),
      'b.js.zst': 'b',
      '.br': 'hidden',
    })
    const manifest = await describeDirectory(folder)
    expect(codingsOf(manifest)).toEqual([
      ['a.js', ['br']],
      ['a.js.br.gz', []],
      ['b.js.zst', []],
      ['data.csv.gz', []],
    ])
    expect(variantPath('a.js', 'br')).toBe('a.js.br')
    expect(parseManifest(stringifyManifest(manifest))).toEqual(manifest)
  })

  test('treats siblings with other content as files, and warns', async () => {
    const folder = await makeFolder({
      'a.js': script,
      'a.js.br': brotliCompressSync('of an earlier build'),
      'a.js.gz': gzipSync(script).subarray(0, -20),
      'a.js.zst': 'no zstd at all',
      'b.js': script,
      'b.js.br': brotliCompressSync(`${script} and more`),
      'b.js.gz': gzipSync(script),
    })
    const warnings: string[] = []
    const manifest = await describeDirectory(folder, { onWarning: (message) => warnings.push(message) })
    expect(codingsOf(manifest)).toEqual([
      ['a.js', []],
      ['a.js.br', []],
      ['a.js.gz', []],
      ['a.js.zst', []],
      ['b.js', ['gzip']],
      ['b.js.br', []],
    ])
    expect(warnings).toEqual([
      'a.js.br is not a valid br variant of a.js (and 3 more such files). The server sends these files under their own names.',
    ])
  })

  test('omits excluded files', async () => {
    const folder = await makeFolder({ 'a.js': script, 'a.js.map': script })
    const { files } = await describeDirectory(folder, { exclude: ['**/*.map'] })
    expect(files.map(({ path }) => path)).toEqual(['a.js'])
  })

  test('rejects a folder with an unfinished compression', async () => {
    const folder = await makeFolder({ 'a.js': script, 'a.js.br': 'of an earlier build' })
    await mkdir(join(folder, '.serve-dist'))
    await writeFile(join(folder, pendingPath), '{}')
    await expect(describeDirectory(folder)).rejects.toThrow(
      `${folder}: the last build or compression did not finish (.serve-dist/pending.json exists). Build again`,
    )
  })

  test('names a missing folder', async () => {
    await expect(describeDirectory('/nowhere/at/all')).rejects.toThrow('the folder does not exist')
  })
})
