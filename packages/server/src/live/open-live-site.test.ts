import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cp, mkdir, readFile, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { manifestPath } from '@serve-dist/manifest'
import { precompress, markUnfinished } from '@serve-dist/precompress'
import { describe, expect, onTestFinished, test } from 'vitest'
import { leaseFile } from '../files/kept-file.ts'
import { openLiveSite } from './open-live-site.ts'
import type { LiveSite } from './open-staged-site.ts'
import type { LiveSiteOptions } from '../load/load-options.ts'
import { buildFixture, writeFixture } from '../../test/support/build-fixture.ts'
import { listOpenFilesIn } from '../../test/support/list-open-files-in.ts'
import { resourceAt } from '../../test/support/fake-site.ts'
import { temporaryDirectory } from '../../test/support/temporary-directory.ts'

const first = { 'index.html': 'first', 'large.bin': 'x'.repeat(5000) }
const second = { 'index.html': 'second', 'large.bin': 'y'.repeat(5000) }

async function open(directory: string, options: LiveSiteOptions = {}): Promise<LiveSite> {
  const live = await openLiveSite(directory, { memoryBudget: 1000, ...options })
  onTestFinished(() => live.close())
  return live
}

/** Replaces a build like `emptyOutDir`. */
async function rebuild(directory: string, files: Readonly<Record<string, string>>): Promise<void> {
  await rm(directory, { recursive: true })
  await mkdir(directory)
  for (const [path, text] of Object.entries(files)) await writeFile(join(directory, path), text)
  await precompress(directory)
}

function pageOf({ current }: LiveSite): string {
  return Buffer.from(resourceAt(current, '/').identity.bytes.body ?? []).toString()
}

describe('openLiveSite', () => {
  test('replaces the build by the latest one and reports both', async () => {
    const directory = await buildFixture(first)
    const live = await open(directory)
    const before = live.current
    await rebuild(directory, second)
    const outcome = await live.reload()
    expect(outcome).toEqual({
      status: 'swapped',
      buildId: live.current.buildId,
      replaced: before.buildId,
      unlistedFiles: 0,
      keptBuilds: 0,
      keptFiles: 0,
    })
    expect(before.buildId).not.toBe(live.current.buildId)
    expect(pageOf(live)).toBe('second')
  })

  test('keeps an unchanged build', async () => {
    const live = await open(await buildFixture(first))
    const before = live.current
    expect(await live.reload()).toEqual({ status: 'unchanged', buildId: before.buildId })
    expect(live.current).toBe(before)
  })

  test('reopens the files of the same build if they were replaced', async () => {
    const releases = await temporaryDirectory()
    await cp(await buildFixture(first), join(releases, '1'), { recursive: true })
    await cp(join(releases, '1'), join(releases, '2'), { recursive: true })
    const link = join(releases, 'dist')
    await symlink('1', link)
    const live = await open(link)
    expect(live.current.directory).toBe(join(releases, '1'))
    await symlink('2', `${link}.new`)
    await rename(`${link}.new`, link)
    expect(await live.reload()).toMatchObject({ status: 'swapped' })
    expect(live.current.directory).toBe(join(releases, '2'))
    await utimes(join(releases, '2', 'large.bin'), 1, 1)
    expect(await live.reload()).toMatchObject({ status: 'swapped' })
  })

  test('rejects a build that differs from its manifest, lists all problems, and continues to serve', async () => {
    const directory = await buildFixture(first)
    const live = await open(directory)
    const before = live.current
    await rebuild(directory, second)
    await truncate(join(directory, 'large.bin'), 10)
    await writeFile(join(directory, 'index.html'), 'dnoces')
    expect(await live.reload()).toEqual({
      status: 'refused',
      buildId: before.buildId,
      problems: [
        expect.stringContaining(': 2 files differ from the manifest'),
        expect.stringContaining(`: npx serve-dist compress ${directory}`),
        '  index.html: has other bytes than the manifest says (SHA-256 differs)',
        '  large.bin: has 10 bytes, the manifest says 5000',
      ],
    })
    expect(live.current).toBe(before)
    await rebuild(directory, second)
    expect(await live.reload()).toMatchObject({ status: 'swapped' })
  })

  test('rejects a streamed file of the old build with the new manifest, and accepts the complete build', async () => {
    const directory = await buildFixture(first)
    const live = await open(directory)
    const old = resourceAt(live.current, '/large.bin')
    await rebuild(directory, second)
    await replace(directory, 'large.bin', first['large.bin'])
    const problems = expect.arrayContaining([
      '  large.bin: has other bytes than the manifest says (SHA-256 differs)',
    ])
    for (let look = 0; look < 2; look += 1) {
      expect(await live.reload()).toMatchObject({ status: 'refused', problems })
    }
    expect(resourceAt(live.current, '/large.bin')).toBe(old)
    await replace(directory, 'large.bin', second['large.bin'])
    expect(await live.reload()).toMatchObject({ status: 'swapped' })
  })

  test('rejects a streamed file of another build with the current manifest', async () => {
    const directory = await buildFixture(first)
    const live = await open(directory)
    await replace(directory, 'large.bin', second['large.bin'])
    expect(await live.reload()).toMatchObject({ status: 'refused' })
    await replace(directory, 'large.bin', first['large.bin'])
    expect(await live.reload()).toMatchObject({ status: 'swapped' })
  })

  test('ignores rules of a partial copy that completes while the build loads', async () => {
    const rules = '/*\n  X-Build: second\n'
    const directory = await buildFixture(first)
    const place = (): void => writeFileSync(join(directory, '_headers'), rules)
    const live = await open(directory, { onWarning: place })
    await rebuild(directory, { ...second, _headers: rules })
    await writeFile(join(directory, '_headers'), 'half of a rule')
    await live.reload()
    place()
    await live.reload()
    expect(pageOf(live)).toBe('second')
    const fields = [...resourceAt(live.current, '/').overrides.values()]
    expect(fields).toEqual([{ name: 'X-Build', value: 'second' }])
  })

  test.skipIf(process.platform === 'win32').each([manifestPath, '_headers', 'index.html', 'large.bin'])(
    'does not block on a FIFO instead of %s, and accepts the complete build',
    async (path) => {
      const directory = await buildFixture({ ...first, _headers: '' })
      const live = await open(directory)
      await rebuild(directory, { ...second, _headers: '' })
      const content = await readFile(join(directory, path))
      await rm(join(directory, path))
      execFileSync('mkfifo', [join(directory, path)])
      expect(await live.reload()).toMatchObject({ status: 'refused' })
      await rm(join(directory, path))
      await writeFile(join(directory, path), content)
      expect(await live.reload()).toMatchObject({ status: 'swapped' })
    },
  )

  test('verifies a streamed file again if a start accepted it without its digest', async () => {
    const [directory, other] = [await buildFixture(first), await buildFixture(second)]
    const own = await readFile(join(directory, manifestPath), 'utf8')
    await replace(directory, 'index.html', second['index.html'])
    await replace(directory, manifestPath, await readFile(join(other, manifestPath), 'utf8'))
    const live = await open(directory)
    expect(pageOf(live)).toBe('second')
    await replace(directory, 'index.html', first['index.html'])
    await replace(directory, manifestPath, own)
    expect(await live.reload()).toMatchObject({ status: 'swapped' })
    expect(pageOf(live)).toBe('first')
  })

  test.each<readonly [string, (directory: string) => Promise<unknown>]>([
    ['a deleted manifest', (directory) => rm(join(directory, manifestPath))],
    ['a manifest that a build has removed', markUnfinished],
    ['a missing folder', (directory) => rm(directory, { recursive: true })],
    ['an empty folder', (directory) => rebuildEmpty(directory)],
  ])('treats %s as an unfinished build', async (_what, change) => {
    const directory = await buildFixture(first)
    const live = await open(directory)
    await change(directory)
    expect(await live.reload()).toMatchObject({
      status: 'refused',
      problems: [expect.stringContaining(`${directory}: no manifest found`)],
    })
    expect(pageOf(live)).toBe('first')
  })

  test('describes a folder without a manifest again', async () => {
    const directory = await writeFixture(first)
    const live = await open(directory)
    await writeFile(join(directory, 'index.html'), 'second')
    expect(await live.reload()).toMatchObject({ status: 'swapped' })
    expect(pageOf(live)).toBe('second')
  })

  test.each<readonly [string, Readonly<Record<string, string>>]>([
    ['became empty', {}],
    ['received server code', { 'index.html': 'page', 'server/entry.mjs': 'secret' }],
  ])('rejects a folder without a manifest that %s, and continues to serve', async (_what, files) => {
    const directory = await writeFixture({ 'index.html': 'first' })
    const live = await open(directory)
    await rm(join(directory, 'index.html'))
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, path)), { recursive: true })
      await writeFile(join(directory, path), text)
    }
    expect(await live.reload()).toMatchObject({ status: 'refused' })
    expect(pageOf(live)).toBe('first')
  })

  test('runs one more reload for all calls during a reload', async () => {
    const directory = await buildFixture(first)
    const live = await open(directory)
    await rebuild(directory, second)
    const [begun, ...more] = [live.reload(), live.reload(), live.reload(), live.reload()]
    expect(new Set(more).size).toBe(1)
    expect(more).not.toContain(begun)
    expect(await begun).toMatchObject({ status: 'swapped' })
    expect(await more[0]).toMatchObject({ status: 'unchanged' })
    const later = live.reload()
    expect(later).not.toBe(more[0])
    expect(await later).toMatchObject({ status: 'unchanged' })
  })

  test.skipIf(process.platform !== 'linux')(
    'keeps only the streamed files of the current build open, and none after it is closed',
    async () => {
      const directory = await buildFixture(first)
      const live = await open(directory)
      expect(listOpenFilesIn(directory)).toEqual([join(directory, 'large.bin')])
      await live.reload()
      await expect.poll(() => listOpenFilesIn(directory)).toHaveLength(1)
      await rebuild(directory, second)
      await live.reload()
      await expect.poll(() => listOpenFilesIn(directory)).toEqual([join(directory, 'large.bin')])
      await truncate(join(directory, 'large.bin'), 10)
      await live.reload()
      await expect.poll(() => listOpenFilesIn(directory)).toHaveLength(1)
      live.close()
      await expect.poll(() => listOpenFilesIn(directory)).toEqual([])
    },
  )

  test.skipIf(process.platform !== 'linux')('closes the files of a build if onWarning throws', async () => {
    const directory = await buildFixture(first)
    const live = await open(directory, {
      onWarning(message) {
        throw new Error(message)
      },
    })
    await rebuild(directory, { ...second, _headers: '/nowhere\n  X-A: b' })
    const refused = { status: 'refused', problems: [expect.stringContaining('/nowhere matches no file')] }
    expect(await live.reload()).toMatchObject(refused)
    await expect.poll(() => listOpenFilesIn(directory)).toHaveLength(1)
  })

  test('refuses a build with a rule that proxies, because handlers cannot', async () => {
    const live = await open(await buildFixture(first))
    await rebuild(live.current.directory, { ...second, _redirects: '/api/* http://backend/:splat 200' })
    const problem = 'the rule /api/* proxies, which only the command serve-dist and serve() can'
    const refused = { status: 'refused', problems: [expect.stringContaining(problem)] }
    expect(await live.reload()).toMatchObject(refused)
    expect(pageOf(live)).toBe('first')
  })

  test.skipIf(process.platform !== 'linux')('keeps a leased file open', async () => {
    const directory = await buildFixture(first)
    const live = await open(directory)
    const stored = resourceAt(live.current, '/large.bin').identity.bytes
    const lease = leaseFile(stored)
    await rebuild(directory, second)
    await live.reload()
    expect(listOpenFilesIn(directory)).toHaveLength(2)
    const late = leaseFile(stored)
    expect(late).toMatchObject({ descriptor: lease?.descriptor })
    lease?.release()
    lease?.release()
    expect(listOpenFilesIn(directory)).toHaveLength(2)
    late?.release()
    await expect.poll(() => listOpenFilesIn(directory)).toHaveLength(1)
    expect(leaseFile(stored)).toBeUndefined()
  })

  test('keeps the smallest files open, up to the limit', async () => {
    const directory = await buildFixture({ a: 'x'.repeat(300), b: 'x'.repeat(100), c: 'x'.repeat(200) })
    const live = await open(directory, { memoryBudget: 0, openFiles: 2 })
    const leases = ['/a', '/b', '/c'].map((path) => leaseFile(resourceAt(live.current, path).identity.bytes))
    for (const lease of leases) lease?.release()
    expect(leases.map((lease) => lease !== undefined)).toEqual([false, true, true])
  })

  test('rejects an invalid number of files', async () => {
    const directory = await buildFixture(first)
    await expect(openLiveSite(directory, { openFiles: -1 })).rejects.toThrow('openFiles: expected a number')
  })
})

/** Replaces a file like rsync, by renaming a new one. */
async function replace(directory: string, path: string, text: string): Promise<void> {
  await writeFile(join(directory, `${path}.new`), text)
  await rename(join(directory, `${path}.new`), join(directory, path))
}

async function rebuildEmpty(directory: string): Promise<void> {
  await rm(directory, { recursive: true })
  await mkdir(directory)
}
