import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ManifestLink, manifestPath, parseManifest } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { precompress } from '../compression/precompress.ts'
import { makeFolder } from '../../test/support/make-folder.ts'

const script: ManifestLink = { path: 'app.js', rel: 'modulepreload', inDocument: true }
const build = { 'index.html': '<!doctype html>', 'a/b.html': '<!doctype html>', 'app.js': '' }

describe('precompress', () => {
  test('passes pages only to `linksOf`, and writes the links into the manifest', async () => {
    const folder = await makeFolder(build)
    const asked: [string, readonly string[]][] = []
    const linksOf = (page: string, paths: ReadonlySet<string>) => {
      asked.push([page, [...paths].toSorted()])
      return page === 'index.html' ? [script] : []
    }
    await precompress(folder, { linksOf })
    const paths = Object.keys(build).toSorted()
    expect(Object.fromEntries(asked)).toEqual({ 'a/b.html': paths, 'index.html': paths })
    const { files } = parseManifest(await readFile(join(folder, manifestPath), 'utf8'))
    expect(files.map(({ links }) => links)).toEqual([undefined, undefined, [script]])
  })

  test('rejects with any error of `linksOf`', async () => {
    const folder = await makeFolder(build)
    const failure = await readFile(join(folder, 'missing.json')).catch((error: unknown) => error)
    const linksOf = async (): Promise<[]> => await Promise.reject(failure)
    await expect(precompress(folder, { linksOf })).rejects.toBe(failure)
  })

  test('writes serving rules into the manifest, and includes them in the build id', async () => {
    const folder = await makeFolder(build)
    const plain = await precompress(folder)
    const { manifest } = await precompress(folder, { serving: { prefer: 'smallest' } })
    expect(plain.manifest).not.toHaveProperty('serving')
    expect(manifest).toMatchObject({ serving: { prefer: 'smallest' } })
    expect(manifest.buildId).not.toBe(plain.manifest.buildId)
    expect(parseManifest(await readFile(join(folder, manifestPath), 'utf8'))).toEqual(manifest)
  })
})
