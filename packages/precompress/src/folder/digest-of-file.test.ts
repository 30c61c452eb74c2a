import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { digestOfFile } from './digest-of-file.ts'
import { makeFolder } from '../../test/support/make-folder.ts'

describe('digestOfFile', () => {
  test.each([0, 1, 262_143, 262_144, 262_145, 1_000_000])('reads %i bytes to their end', async (size) => {
    const bytes = Buffer.alloc(size, 'content')
    const folder = await makeFolder({ file: bytes })
    const found = await digestOfFile(join(folder, 'file'))
    expect(found?.sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
  })

  test('several at once do not mix', async () => {
    const contents = [Buffer.alloc(700_000, 'a'), Buffer.alloc(700_000, 'b'), Buffer.alloc(9, 'c')]
    const folder = await makeFolder(Object.fromEntries(contents.map((bytes, index) => [index, bytes])))
    const digests = await Promise.all(contents.map((_, index) => digestOfFile(join(folder, String(index)))))
    expect(digests.map((found) => found?.sha256)).toEqual(
      contents.map((bytes) => createHash('sha256').update(bytes).digest('hex')),
    )
  })

  test('answers nothing for what is no regular file', async () => {
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
