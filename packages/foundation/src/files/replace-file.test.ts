import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { replaceFile } from './replace-file.ts'

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'serve-dist-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

test('replaceFile replaces a file and leaves no temporary file', async () => {
  const folder = await makeFolder()
  await writeFile(join(folder, 'a'), 'old')
  await replaceFile(join(folder, 'a'), 'new')
  expect(await readFile(join(folder, 'a'), 'utf8')).toBe('new')
  expect(await readdir(folder)).toEqual(['a'])
})

test('replaceFile replaces a temporary file of a killed process', async () => {
  const folder = await makeFolder()
  await writeFile(join(folder, 'a.part'), 'half of a longer text')
  await replaceFile(join(folder, 'a'), 'new', join(folder, 'a.part'))
  expect(await readFile(join(folder, 'a'), 'utf8')).toBe('new')
  expect(await readdir(folder)).toEqual(['a'])
})

test('replaceFile creates a missing folder', async () => {
  const file = join(await makeFolder(), 'b', 'a')
  await replaceFile(file, 'new')
  expect(await readFile(file, 'utf8')).toBe('new')
})
