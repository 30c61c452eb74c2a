import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSaved, UnreadableReport } from './read-saved.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'serve-dist-saved-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('readSaved', () => {
  test('reads a report', async () => {
    const file = join(folder, 'report.json')
    await writeFile(file, '{"rows":[]}')
    expect(await readSaved('from', file)).toEqual({ rows: [] })
  })

  test('names option and file of what is not there, or no report', async () => {
    const file = join(folder, 'broken.json')
    await writeFile(file, '{')
    await expect(readSaved('baseline', file)).rejects.toThrow(`--baseline ${file}: `)
    await expect(readSaved('from', join(folder, 'missing.json'))).rejects.toThrow(UnreadableReport)
  })
})
