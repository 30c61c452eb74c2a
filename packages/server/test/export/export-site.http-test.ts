import { mkdir, readdir, readFile, readlink, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { exportSite, prepareExportFolder } from '../../src/export/export-site.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { buildFixture, type FixtureFiles } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { canMountFolders, mountFolder } from '../../../precompress/test/support/mount-folder.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const canMount = await canMountFolders()

const files: FixtureFiles = {
  'index.html': '<!doctype html>one',
  'assets/app-1a2b3c.js': compressibleText(50_000),
}

async function build(more: FixtureFiles = {}): Promise<string> {
  return await buildFixture(
    { ...files, ...more },
    { assetsDirectory: 'assets', isHashed: (path) => path.includes('1a2b3c') },
  )
}

async function writtenFile(): Promise<string> {
  const file = join(await temporaryDirectory(), 'file')
  await writeFile(file, '')
  return file
}

describe('exportSite', () => {
  test("writes a folder for each host, with the build's file times", async () => {
    const site = await loadSite(await build())
    const folder = join(await temporaryDirectory(), 'new')
    expect(await exportSite(site, folder)).toMatchObject({ folder, files: 4, kept: 0, variants: 3, left: [] })
    expect((await readdir(folder)).toSorted()).toEqual(
      ['builds', 'cloudflare-pages', 'export.json', 'netlify', 'nginx.conf', 'public'].toSorted(),
    )
    const assets = ['app-1a2b3c.js', 'app-1a2b3c.js.br', 'app-1a2b3c.js.gz', 'app-1a2b3c.js.zst']
    expect((await readdir(join(folder, 'public/assets'))).toSorted()).toEqual(assets)
    expect((await readdir(join(folder, 'netlify/assets'))).toSorted()).toEqual(['404.html', 'app-1a2b3c.js'])
    const { mtimeMs } = await stat(join(folder, 'public/index.html'))
    expect(mtimeMs).toBe(site.files.get('index.html')?.lastModified)
  })

  test('reads bodies that are not in memory, and rejects bytes of another build', async () => {
    const directory = await build()
    const site = await loadSite(directory, { memoryBudget: 0 })
    const folder = await temporaryDirectory()
    await exportSite(site, folder)
    const app = await readFile(join(folder, 'public/assets/app-1a2b3c.js'), 'utf8')
    expect(app).toBe(files['assets/app-1a2b3c.js'])
    await writeFile(join(directory, 'index.html'), '<!doctype html>two')
    await expect(exportSite(site, folder)).rejects.toThrow(/index\.html: changed since/)
    expect(await readFile(join(folder, 'public/index.html'), 'utf8')).toBe('<!doctype html>one')
  })

  test("gives changed files a new time although the build's times are fixed", async () => {
    vi.stubEnv('SOURCE_DATE_EPOCH', '1000000000')
    onTestFinished(() => void vi.unstubAllEnvs())
    const times = await Promise.all(
      ['<!doctype html>one', '<!doctype html>two'].map(async (page) => {
        const folder = await temporaryDirectory()
        await exportSite(await loadSite(await build({ 'index.html': page })), folder)
        expect(await readFile(join(folder, 'nginx.conf'), 'utf8')).toContain('add_header Last-Modified "";')
        return (await stat(join(folder, 'public/index.html'))).mtimeMs
      }),
    )
    expect(new Set(times).size).toBe(2)
  })

  test('gives variants of equal size different times because hosts derive entity tags from both', async () => {
    const texts = Array.from({ length: 300 }, (_none, index): [string, string] => [
      `assets/t${index}-1a2b3c.txt`,
      Array.from({ length: 400 }, (_number, place) =>
        ((place * place * 7919 + index) % 65_521).toString(36),
      ).join(' '),
    ])
    const folder = await temporaryDirectory()
    await exportSite(await loadSite(await build(Object.fromEntries(texts))), folder)
    const tags = await Promise.all(
      (await readdir(join(folder, 'public/assets'))).map(async (name) => {
        const { mtimeMs, size } = await stat(join(folder, 'public/assets', name))
        return `${name.replace(/\.(?:zst|br|gz)$/, '')} ${mtimeMs} ${size}`
      }),
    )
    expect(tags.filter((tag, index) => tags.indexOf(tag) !== index)).toEqual([])
  })

  test('keeps the previous build for hosts that have not reloaded yet', async () => {
    const folder = await temporaryDirectory()
    for (const page of ['one', 'two', 'three']) {
      await exportSite(await loadSite(await build({ 'index.html': page })), folder)
    }
    expect((await readdir(join(folder, 'builds'))).toSorted()).toEqual(['2', '3'])
    expect(await readlink(join(folder, 'public'))).toBe('builds/3')
    expect(await readFile(join(folder, 'builds/2/index.html'), 'utf8')).toBe('two')
    expect(await readFile(join(folder, 'nginx.conf'), 'utf8')).toContain('root "$site/builds/3";')
  })

  test('refuses a folder that it did not create, and continues in an unfinished export', async () => {
    const site = await loadSite(await build())
    const folder = await temporaryDirectory()
    await writeFile(join(folder, 'letter.txt'), 'Dear Sir or Madam')
    await expect(exportSite(site, folder)).rejects.toMatchObject({ code: 'SD_FOLDER_WRONG' })
    expect(await readdir(folder)).toEqual(['letter.txt'])
    await writeFile(join(folder, 'export.json'), '{"tool":"serve-dist","version":1,"number":0}\n')
    await exportSite(site, folder)
    expect(await readFile(join(folder, 'public/index.html'), 'utf8')).toBe('<!doctype html>one')
  })
  test.each(['{"version":1,"number":3}', '{"tool":"other","version":1,"number":3}'])(
    "refuses a folder with another tool's export.json: %s",
    async (mark) => {
      const folder = await temporaryDirectory()
      await mkdir(join(folder, 'builds/1'), { recursive: true })
      await writeFile(join(folder, 'export.json'), mark)
      await expect(exportSite(await loadSite(await build()), folder)).rejects.toMatchObject({
        code: 'SD_FOLDER_WRONG',
      })
      expect(await readdir(join(folder, 'builds'))).toEqual(['1'])
    },
  )

  test('never deletes files behind a link, or files that it did not write', async () => {
    const site = await loadSite(await build())
    const [folder, elsewhere] = [await temporaryDirectory(), await temporaryDirectory()]
    await exportSite(site, folder)
    await writeFile(join(folder, 'builds/notes.txt'), 'mine')
    await exportSite(site, folder)
    expect(await readFile(join(folder, 'builds/notes.txt'), 'utf8')).toBe('mine')
    await mkdir(join(elsewhere, '1'))
    await rename(join(folder, 'builds'), join(folder, 'before'))
    await symlink(elsewhere, join(folder, 'builds'))
    await expect(exportSite(site, folder)).rejects.toThrow(/builds: it is a link or a file/)
    expect(await readdir(elsewhere)).toEqual(['1'])
  })

  test.each<[what: string, make: () => Promise<string>]>([
    ['below a file', async () => join(await writtenFile(), 'export')],
    ['that is a file', writtenFile],
    ...(process.platform === 'linux'
      ? [['in /proc', async () => '/proc/serve-dist'] satisfies [string, () => Promise<string>]]
      : []),
  ])('names a folder that it cannot write: %s', async (_what, make) => {
    const folder = await make()
    const site = await loadSite(await build())
    const works = [async () => await prepareExportFolder(folder), async () => await exportSite(site, folder)]
    for (const work of works) {
      await expect(work()).rejects.toMatchObject({
        code: expect.stringMatching(/^SD_(?:WRITE_FAILED|FOLDER_WRONG)$/),
        message: expect.stringContaining(folder),
      })
    }
  })

  test.runIf(canMount)('names the folder if the disk is full', async () => {
    const folder = await temporaryDirectory()
    await mountFolder(folder, '-t', 'tmpfs', '-o', 'size=16k', 'tmpfs')
    await expect(exportSite(await loadSite(await build()), folder)).rejects.toMatchObject({
      code: 'SD_WRITE_FAILED',
      message: expect.stringContaining(`${folder}: cannot write the export (ENOSPC`),
    })
  })

  test('refuses a folder with a Caddyfile, and names the supported hosts', async () => {
    const site = await loadSite(await build())
    const folder = await temporaryDirectory()
    await exportSite(site, folder)
    await writeFile(join(folder, 'Caddyfile'), '')
    await expect(exportSite(site, folder)).rejects.toThrow(/which are no longer supported/)
  })
})
