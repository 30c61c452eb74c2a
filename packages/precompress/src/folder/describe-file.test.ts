import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { appendFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeFile, digestOfFile, isUnchanged, loadFile } from './describe-file.ts'
import { makeFolder } from '../../test/support/make-folder.ts'

describe('describeFile and loadFile', () => {
  test.each([0, 1, 1_048_576, 1_048_577, 3_000_000])('agree on a file of %i bytes', async (size) => {
    const bytes = Buffer.alloc(size, 'content')
    const folder = await makeFolder({ 'a.txt': bytes })
    const described = await describeFile(folder, 'a.txt')
    expect(described).toMatchObject({
      path: 'a.txt',
      mediaType: 'text/plain; charset=utf-8',
      size,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    })
    const { bytes: loadedBytes, ...loaded } = await loadFile(folder, 'a.txt')
    expect(loaded).toEqual(described)
    expect(bytes.equals(loadedBytes)).toBe(true)
  })

  test('reject a file that grows while it is read', async () => {
    const folder = await makeFolder({ 'a.txt': Buffer.alloc(50_000_000, 'content') })
    const reading = describeFile(folder, 'a.txt')
    const growing = (async () => {
      for (let turn = 0; turn < 20; turn += 1) await appendFile(join(folder, 'a.txt'), 'more')
    })()
    await expect(reading).rejects.toThrow('changed during the read')
    await growing
  })
})

describe('isUnchanged', () => {
  const time = new Date('2020-02-02')

  test.each(['one', 'two'])(
    'compares the bytes of a file with the same size and time: %s',
    async (content) => {
      const folder = await makeFolder({ 'a.txt': 'one' })
      await utimes(join(folder, 'a.txt'), time, time)
      const described = await describeFile(folder, 'a.txt')
      expect(await isUnchanged(folder, described)).toBe(true)
      await writeFile(join(folder, 'a.txt'), content)
      await utimes(join(folder, 'a.txt'), time, time)
      expect(await isUnchanged(folder, described)).toBe(content === 'one')
    },
  )

  test('detects a missing file, and a missing folder', async () => {
    const folder = await makeFolder({ 'a/b.txt': 'one' })
    const described = await describeFile(folder, 'a/b.txt')
    await rm(join(folder, 'a'), { recursive: true })
    expect(await isUnchanged(folder, described)).toBe(false)
    await writeFile(join(folder, 'a'), '')
    expect(await isUnchanged(folder, described)).toBe(false)
  })
})

describe('digestOfFile', () => {
  test.each([0, 1, 1_048_575, 1_048_576, 1_048_577])('digests all of %i bytes', async (size) => {
    const bytes = Buffer.alloc(size, 'content')
    const folder = await makeFolder({ file: bytes })
    const found = await digestOfFile(join(folder, 'file'))
    expect(found?.sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
  })

  test('keeps concurrent reads apart', async () => {
    const contents = [Buffer.alloc(1_700_000, 'a'), Buffer.alloc(1_700_000, 'b'), Buffer.alloc(9, 'c')]
    const folder = await makeFolder(Object.fromEntries(contents.map((bytes, index) => [index, bytes])))
    const digests = await Promise.all(contents.map((_, index) => digestOfFile(join(folder, String(index)))))
    expect(digests.map((found) => found?.sha256)).toEqual(
      contents.map((bytes) => createHash('sha256').update(bytes).digest('hex')),
    )
  })

  test('returns `undefined` for anything but a regular file', async () => {
    const folder = await makeFolder({ file: 'x' })
    await symlink('file', join(folder, 'link'))
    const names = ['missing', 'link', '.']
    if (process.platform !== 'win32') {
      execFileSync('mkfifo', [join(folder, 'pipe')])
      names.push('pipe')
    }
    for (const name of names) expect(await digestOfFile(join(folder, name))).toBeUndefined()
  })
})
