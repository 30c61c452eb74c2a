import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { makeFolder } from '../../test/support/make-folder.ts'
import type { BuildFacts } from './build-record.ts'
import { readCachedRecords, readRecord, writeRecord } from './record-files.ts'

const digest = 'a'.repeat(64)
const facts: BuildFacts = {
  role: 'client',
  base: '/app/',
  appType: 'mpa',
  assetsDirectory: 'assets',
  selection: { exclude: ['drafts/**'] },
  codings: ['br'],
  minimumSize: 0,
  serving: { securityHeaders: true },
  preload: { fonts: true },
  promises: ['_astro/**'],
  hashed: { 'assets/a-1.js': { sha256: digest, stem: 'assets/a-[hash].js' } },
  graph: { 'assets/a-1.js': { imports: ['assets/b-2.js'], styles: [] } },
}
const caches = 'node_modules/.cache/serve-dist/records'

async function makeProject(): Promise<{ root: string; folder: string }> {
  const root = await makeFolder({ 'package.json': '{}', 'dist/assets/a-1.js': 'a', 'dist/index.html': 'i' })
  return { root, folder: join(root, 'dist') }
}

describe('writeRecord', () => {
  test('writes a record that readRecord and readCachedRecords read', async () => {
    vi.stubEnv('SOURCE_DATE_EPOCH', '1769860800')
    const { root, folder } = await makeProject()
    const record = writeRecord(folder, facts, { root })
    expect(record).toEqual({ ...facts, version: 1, time: '2026-01-31T12:00:00Z' })
    expect(readRecord(folder)).toEqual(record)
    expect(readCachedRecords([root])).toEqual([{ root, folder, record }])
    expect(await readdir(join(folder, '.serve-dist'))).toEqual(['record.json'])
  })

  test('keeps facts about files that still exist', async () => {
    const { root, folder } = await makeProject()
    const gone = { sha256: digest }
    writeRecord(folder, { ...facts, hashed: { ...facts.hashed, 'assets/gone.js': gone } }, { root })
    const second = { 'index.html': { sha256: digest } }
    writeRecord(folder, { ...facts, base: '/', hashed: second, graph: {} }, { root })
    const record = readRecord(folder)
    expect(record).toMatchObject({ base: '/', hashed: { ...facts.hashed, ...second }, graph: facts.graph })
    expect(record?.hashed).not.toHaveProperty('assets/gone.js')
  })

  test("keeps a client's record when a server build adds files", async () => {
    const { root, folder } = await makeProject()
    writeRecord(folder, facts, { root })
    const ofServer = { 'index.html': { sha256: digest } }
    writeRecord(folder, { ...facts, role: 'server', base: '/other/', hashed: ofServer }, { root })
    expect(readRecord(folder)).toMatchObject({ role: 'client', base: '/app/', hashed: ofServer })
  })

  test('keeps the records of two outputs of a project apart', async () => {
    const { root, folder } = await makeProject()
    writeRecord(folder, facts, { root })
    writeRecord(join(root, 'other'), { ...facts, role: 'server' }, { root })
    expect(readCachedRecords([root]).map((stored) => stored.folder)).toHaveLength(2)
  })

  test('writes a record that is found from a folder outside the package', async () => {
    const workspace = await makeFolder({ 'package.json': '{}', 'apps/one/package.json': '{}' })
    const folder = join(workspace, 'dist/one')
    writeRecord(folder, facts, { root: join(workspace, 'apps/one') })
    expect(readCachedRecords([workspace])).toHaveLength(1)
    expect(readCachedRecords([join(workspace, 'apps/one')])).toHaveLength(1)
  })

  test('removes cached records that are older than 30 days', async () => {
    const { root, folder } = await makeProject()
    writeRecord(join(root, 'old'), facts, { root })
    const [name = ''] = await readdir(join(root, caches))
    const old = Date.now() / 1000 - 31 * 24 * 3600
    await utimes(join(root, caches, name), old, old)
    writeRecord(folder, facts, { root })
    expect(readCachedRecords([root]).map((stored) => stored.folder)).toEqual([folder])
  })

  test('continues if it cannot write to the cache', async () => {
    const { root, folder } = await makeProject()
    await writeFile(join(root, 'node_modules'), 'a file')
    writeRecord(folder, facts, { root })
    expect(readRecord(folder)).toMatchObject(facts)
    await rm(join(root, 'package.json'))
    writeRecord(folder, facts, { root })
  })

  test('fails if the folder is not writable', async () => {
    const { root } = await makeProject()
    expect(() => writeRecord(join(root, 'package.json'), facts, { root })).toThrow(
      'cannot write to this folder',
    )
  })
})

describe('readRecord', () => {
  test.each([
    ['invalid JSON', '{'],
    ['another version', (text: string) => text.replace('"version":1', '"version":2')],
    ['an invalid digest', (text: string) => text.replace(digest, 'x')],
    ['an invalid rule', (text: string) => text.replace('"securityHeaders":true', '"securityHeaders":1')],
  ])('warns about %s, and returns nothing', async (_what, change) => {
    const { root, folder } = await makeProject()
    writeRecord(folder, facts, { root })
    const file = join(folder, '.serve-dist/record.json')
    const text = await readFile(file, 'utf8')
    await writeFile(file, typeof change === 'string' ? change : change(text))
    const warnings: string[] = []
    expect(readRecord(folder, (message) => warnings.push(message))).toBeUndefined()
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('record.json: ')
  })

  test('does not warn if there is no record', async () => {
    const folder = await makeFolder()
    await mkdir(join(folder, '.serve-dist'))
    const warnings: string[] = []
    expect(readRecord(folder, (message) => warnings.push(message))).toBeUndefined()
    expect(warnings).toEqual([])
  })
})
