import { unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { compressBatch, type FileBatch } from './compress-batch.ts'
import { createStagingArea } from '../commit/create-stager.ts'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { encode } from '../codecs/encode.ts'
import { makeFolder } from '../../test/support/make-folder.ts'
import { readFolder } from '../../test/support/read-folder.ts'

const script = 'export const answer = () => "forty-two";\n'.repeat(50)
const gzipped = await encode(Buffer.from(script), 'gzip')

async function makeBatch(count: number): Promise<FileBatch> {
  const names = Array.from({ length: count }, (_, index) => `${index}.js`)
  const folder = await makeFolder(Object.fromEntries(names.map((name) => [name, script])))
  return {
    name: 'first',
    files: names.map((path) => ({ path, size: script.length, codings: ['gzip'] })),
    ours: new Map(),
    area: createStagingArea(folder, true),
    cacheDirectory: undefined,
  }
}

afterEach(() => {
  vi.restoreAllMocks()
})

/** Stops the clock, because on a busy machine the first file alone may use the whole time limit. */
function stopClock(): void {
  vi.spyOn(performance, 'now').mockReturnValue(0)
}

describe('compressBatch', () => {
  test('stages variants and returns their paths', async () => {
    stopClock()
    const batch = await makeBatch(2)
    const { results, staged, failure, work } = await compressBatch(batch)
    expect([results.length, failure, work.results]).toEqual([2, undefined, 2])
    const disk = await readFolder(batch.area.folder)
    expect(staged.map(({ path, sha256 }) => [path, sha256])).toEqual([
      ['0.js.gz', sha256Of(gzipped)],
      ['1.js.gz', sha256Of(gzipped)],
    ])
    for (const { aside } of staged) {
      expect(disk.get(aside.slice(batch.area.folder.length + 1))?.equals(gzipped)).toBe(true)
    }
  })

  test('returns before the end of a batch if the time limit is over', { timeout: 20_000 }, async () => {
    const batch = await makeBatch(1000)
    const { results, staged } = await compressBatch(batch)
    expect(results.length).toBeGreaterThan(0)
    expect(results.length).toBeLessThan(1000)
    expect(staged).toHaveLength(results.length)
  })

  test('does not write a variant that is already in the folder', async () => {
    const batch = await makeBatch(1)
    await writeFile(join(batch.area.folder, '0.js.gz'), gzipped)
    const ours = new Map([['0.js.gz', { sha256: sha256Of(gzipped), stamp: '' }]])
    const { results, staged } = await compressBatch({ ...batch, ours })
    expect(results).toMatchObject([{ compressed: { variants: [{ coding: 'gzip' }] }, taken: [] }])
    expect(staged).toEqual([])
  })

  test('reports the error of a file, and continues', async () => {
    stopClock()
    const batch = await makeBatch(3)
    await unlink(join(batch.area.folder, '1.js'))
    const { results, staged } = await compressBatch(batch)
    expect(results[1]).toMatchObject({ error: { code: 'ENOENT' } })
    expect(staged).toHaveLength(2)
  })

  test('reports an error of the folder in a form that another thread can receive', async () => {
    const batch = await makeBatch(1)
    await writeFile(join(batch.area.folder, '.serve-dist'), 'a file in the way')
    const { results, staged } = await compressBatch(batch)
    expect(structuredClone(results)).toEqual([
      {
        code: 'SD_WRITE_FAILED',
        folderProblems: [expect.stringMatching(/: cannot write to this folder \(E/)],
      },
    ])
    expect(staged).toEqual([])
  })
})
