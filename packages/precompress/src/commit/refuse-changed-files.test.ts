import { appendFileSync, readFileSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { manifestPath } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { describeFile } from '../folder/describe-file.ts'
import { precompress } from '../compression/precompress.ts'
import type { PrecompressOptions } from '../precompress-options.ts'
import { refuseChangedFiles } from './refuse-changed-files.ts'
import { makeFolder } from '../../test/support/make-folder.ts'
import { problemsOf } from '../../test/support/problems-of.ts'
import { readFolder } from '../../test/support/read-folder.ts'

const script = 'export const answer = () => "forty-two";\n'.repeat(100)
const page = '<!doctype html><title>page</title>\n'.repeat(60)
const build = { 'index.html': page, 'a.js': script }
const advice = 'Compress the folder after all other programs have written to it.'

/** Compresses a folder that changes after everything is encoded. */
async function compressDuring(
  folder: string,
  change: () => void,
  options: PrecompressOptions = {},
): ReturnType<typeof precompress> {
  return await precompress(folder, {
    cache: false,
    ...options,
    linksOf: () => {
      change()
      return []
    },
  })
}

/** Expects that the folder differs from before only in the given files. */
async function expectOnlyChange(
  folder: string,
  before: Awaited<ReturnType<typeof readFolder>>,
  changed: Readonly<Record<string, string>>,
): Promise<void> {
  const expected = new Map(before)
  for (const [path, text] of Object.entries(changed)) expected.set(path, Buffer.from(text))
  const disk = await readFolder(folder)
  expect(disk.size).toBe(expected.size)
  for (const [path, bytes] of expected) expect([path, disk.get(path)?.equals(bytes)]).toEqual([path, true])
}

describe('precompress of a folder that changes during the compression', () => {
  test('fails if a variant was overwritten', async () => {
    const folder = await makeFolder(build)
    await precompress(folder, { cache: false })
    const before = await readFolder(folder)
    const pass = compressDuring(folder, () => writeFileSync(join(folder, 'a.js.br'), 'mine'))
    expect(await problemsOf(pass)).toEqual([`a.js.br: the file changed during the compression. ${advice}`])
    await expectOnlyChange(folder, before, { 'a.js.br': 'mine' })
  })

  test('fails if a variant was removed', async () => {
    const folder = await makeFolder(build)
    await precompress(folder, { cache: false })
    const pass = compressDuring(folder, () => unlinkSync(join(folder, 'a.js.br')))
    expect(await problemsOf(pass)).toEqual([`a.js.br: the file changed during the compression. ${advice}`])
  })

  test('does not replace a new file that has the name of a variant', async () => {
    const folder = await makeFolder(build)
    const before = await readFolder(folder)
    const pass = compressDuring(folder, () => writeFileSync(join(folder, 'a.js.gz'), 'mine'))
    expect(await problemsOf(pass)).toEqual([
      `a.js.gz: another program created a file where a variant belongs. ${advice}`,
    ])
    await expectOnlyChange(folder, before, { 'a.js.gz': 'mine' })
  })

  test('does not replace a variant that another program changed', async () => {
    const folder = await makeFolder(build)
    await precompress(folder, { cache: false })
    writeFileSync(join(folder, 'a.js'), script.replaceAll('forty', 'fifty'))
    const before = await readFolder(folder)
    const pass = compressDuring(folder, () => writeFileSync(join(folder, 'a.js.br'), 'mine'))
    expect(await problemsOf(pass)).toEqual([`a.js.br: the file changed during the compression. ${advice}`])
    await expectOnlyChange(folder, before, { 'a.js.br': 'mine' })
  })

  test('does not remove a variant that another program changed', async () => {
    const folder = await makeFolder(build)
    await precompress(folder, { cache: false })
    await unlink(join(folder, 'a.js'))
    const before = await readFolder(folder)
    const pass = compressDuring(folder, () => appendFileSync(join(folder, 'a.js.br'), 'mine'))
    expect(await problemsOf(pass)).toEqual([`a.js.br: the file changed during the compression. ${advice}`])
    expect((await readFolder(folder)).size).toBe(before.size)
  })

  test('reports all problems at once, including changed originals', async () => {
    const folder = await makeFolder(build)
    const pass = compressDuring(folder, () => {
      for (const path of ['index.html', 'a.js.zst', 'a.js.gz']) writeFileSync(join(folder, path), 'mine')
    })
    expect(await problemsOf(pass)).toEqual([
      `a.js.gz: another program created a file where a variant belongs. ${advice}`,
      `a.js.zst: another program created a file where a variant belongs. ${advice}`,
      `index.html: the file changed during the compression. ${advice}`,
    ])
  })

  test('ignores equal bytes, and stale variants that are already gone', async () => {
    const folder = await makeFolder({ ...build, 'b.js': `${script}//` })
    await precompress(folder, { cache: false })
    await unlink(join(folder, 'b.js'))
    const { manifest, written, removed } = await compressDuring(folder, () => {
      const bytes = readFileSync(join(folder, 'a.js.br'))
      writeFileSync(join(folder, 'a.js.br'), bytes)
      utimesSync(join(folder, 'a.js.br'), 1, 1)
      unlinkSync(join(folder, 'b.js.br'))
    })
    expect(written).toEqual([manifestPath])
    expect(removed).toContain('b.js.gz')
    const disk = await readFolder(folder)
    const named = manifest.files[0]?.variants.find(({ coding }) => coding === 'br')
    expect(named?.sha256).toBe(sha256Of(disk.get('a.js.br') ?? ''))
  })
})

describe('refuseChangedFiles', () => {
  test('yields to the event loop between thousands of files', async () => {
    const folder = await makeFolder({ 'a.txt': 'a' })
    const file = await describeFile(folder, 'a.txt')
    const files = Array.from({ length: 2000 }, () => ({ file, variants: [] }))
    const none = { manifest: undefined, manifestText: undefined, isUnfinished: false }
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    await refuseChangedFiles(folder, files, { ...none, variants: new Map() })
    isOver = true
    expect(turns).toBeGreaterThan(5)
  })
})
