import { execFileSync } from 'node:child_process'
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { precompress } from '../src/compression/precompress.ts'
import { addFiles, makeFolder } from './support/make-folder.ts'
import { canMountFolders, mountFolder } from './support/mount-folder.ts'
import { readFolder } from './support/read-folder.ts'

const script = 'export const answer = () => "forty-two";\n'.repeat(100)

const canMount = await canMountFolders()

async function failureOf(pass: Promise<unknown>): Promise<string> {
  return await pass.then(
    () => 'none',
    (error: unknown) => String(error),
  )
}

describe('precompress with system limits', () => {
  test.runIf(canMount)(
    'fails on a full disk with one clear error, and removes everything that it wrote',
    async () => {
      const folder = await makeFolder()
      await mountFolder(folder, '-t', 'tmpfs', '-o', 'size=160k', 'tmpfs')
      const files = Object.fromEntries(
        Array.from({ length: 16 }, (_, index) => [`${index}.js`, `${script}//${index}`]),
      )
      await addFiles(folder, { ...files, 'ballast.png': Buffer.alloc(20_000) })
      expect(await failureOf(precompress(folder))).toMatch(
        `${folder}: cannot write to this folder (ENOSPC: no space left on device)`,
      )
      expect([...(await readFolder(folder)).keys()]).toEqual(
        ['ballast.png', ...Object.keys(files)].toSorted(),
      )
      expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toEqual([])
    },
  )

  test.runIf(canMount)('keeps the earlier build if the disk fills up', async () => {
    const folder = await makeFolder()
    await mountFolder(folder, '-t', 'tmpfs', '-o', 'size=256k', 'tmpfs')
    await addFiles(folder, { 'a.js': script, 'b.js': `${script}//` })
    await precompress(folder, { codings: ['gzip'] })
    const before = await readFolder(folder)
    // Fill the disk.
    await writeFile(join(folder, '.ballast'), Buffer.alloc(1_000_000)).catch(() => undefined)
    expect(await failureOf(precompress(folder))).toMatch(/ENOSPC/)
    await rm(join(folder, '.ballast'))
    expect(await readFolder(folder)).toEqual(before)
  })

  test.runIf(canMount)('fails in a read-only folder with one clear error', async () => {
    const folder = await makeFolder({ 'a.js': script })
    await mountFolder(folder, '--bind', '-o', 'ro', folder)
    expect(await failureOf(precompress(folder))).toBe(
      `OperatorError: ${folder}: cannot write to this folder (EROFS: read-only file system). Free disk space or change the permissions, then build again.`,
    )
    expect([...(await readFolder(folder)).keys()]).toEqual(['a.js'])
  })

  test.skipIf(process.platform === 'win32')(
    'excludes FIFOs and circular links, each with a warning',
    async () => {
      const folder = await makeFolder({ 'a.js': script })
      execFileSync('mkfifo', [join(folder, 'pipe')])
      await mkdir(join(folder, 'sub'))
      await symlink('..', join(folder, 'sub/up'))
      await symlink('loop.js', join(folder, 'loop.js'))
      const { manifest, warnings } = await precompress(folder)
      expect(manifest.files.map(({ path }) => path)).toEqual(['a.js'])
      expect(warnings.toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
        expect.stringMatching(/^cannot include loop\.js: it is a symlink without a target \(ELOOP/),
        expect.stringMatching(/^cannot include pipe: it is not a regular file/),
        expect.stringMatching(/^cannot include sub\/up: it is a symlink to a folder/),
      ])
    },
  )

  // Other systems treat these names as equal.
  test.runIf(process.platform === 'linux')('warns about names that differ only by case', async () => {
    const folder = await makeFolder({ 'App.js': script, 'app.js': `${script}//` })
    const { warnings } = await precompress(folder)
    expect(warnings).toEqual([expect.stringMatching(/^App\.js and app\.js differ only by case/)])
  })

  test('removes the staged files of a killed compression', async () => {
    const folder = await makeFolder({
      'a.js': script,
      '.serve-dist/staging/0b1c/0': 'half',
      '.serve-dist/staging/0b1c/pending': '{',
    })
    await precompress(folder)
    expect((await readdir(join(folder, '.serve-dist'))).toSorted()).toEqual(['manifest.json'])
  })
})
