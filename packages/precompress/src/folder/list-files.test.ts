import { execFileSync } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listFiles } from './list-files.ts'
import { addFiles, makeFolder } from '../../test/support/make-folder.ts'

const everything = { include: ['**'], exclude: [] }
const isWindows = process.platform === 'win32'

async function list(
  folder: string,
  selection: { include: string[]; exclude: string[] } = everything,
): Promise<{ paths: string[]; warnings: string[] }> {
  const warnings: string[] = []
  const files = await listFiles(folder, selection, (message) => warnings.push(message))
  return { paths: files.map(({ path }) => path), warnings }
}

describe('listFiles', () => {
  test('finds names as they are, in the order of UTF-16 code units', async () => {
    const names = [
      'assets/[id].js',
      'assets/a b+c%20d.js',
      'assets/(group)/!x.js',
      'assets/{a,b}.css',
      'Ärger/grün.txt',
      'e\u0301-nfd.txt',
      'é-nfc.txt',
      'index.html',
      '😀.txt',
      '\uFF5E.txt',
      '.well-known/security.txt',
      'data.csv.gz',
      'Z.txt',
      'a.txt',
    ]
    const folder = await makeFolder(Object.fromEntries(names.map((name) => [name, name])))
    const { paths, warnings } = await list(folder)
    expect(paths).toEqual(names.toSorted())
    expect(warnings).toEqual([])
  })

  test('states sizes in bytes', async () => {
    const folder = await makeFolder({ 'ü.txt': 'üü', 'empty.txt': '' })
    expect(await listFiles(folder, everything, () => {})).toEqual([
      { path: 'empty.txt', size: 0 },
      { path: 'ü.txt', size: 4 },
    ])
  })

  test('leaves out dotfiles and the state of tools in silence', async () => {
    const folder = await makeFolder({
      '.env': '',
      '.vite/manifest.json': '',
      '.serve-dist/manifest.json': '',
      'a/.git/config': '',
      'a/.well-known/.secret': '',
      'a/b.txt': '',
    })
    expect(await list(folder)).toEqual({ paths: ['a/b.txt'], warnings: [] })
  })

  test('keeps to the patterns', async () => {
    const folder = await makeFolder({ 'a.js': '', 'a.js.map': '', 'drafts/b.js': '', 'drafts/deep/c.js': '' })
    expect((await list(folder, { include: ['**/*.js'], exclude: ['drafts'] })).paths).toEqual(['a.js'])
    expect((await list(folder, { include: ['drafts/**'], exclude: ['**/c.*'] })).paths).toEqual([
      'drafts/b.js',
    ])
    expect((await list(folder, { include: ['./*.map'], exclude: [] })).paths).toEqual(['a.js.map'])
    expect((await list(folder, { include: ['**', '!**/*.map', '!drafts/deep'], exclude: [] })).paths).toEqual(
      ['a.js', 'drafts/b.js'],
    )
  })

  test('takes an extended pattern at the beginning for what it is', async () => {
    const folder = await makeFolder({ 'a.js': '', 'b.js': '', 'c/d.js': '' })
    expect((await list(folder, { include: ['!(a).js'], exclude: [] })).paths).toEqual(['b.js'])
    expect((await list(folder, { include: ['**'], exclude: ['!(a).js'] })).paths).toEqual(['a.js', 'c/d.js'])
  })

  test('lists nothing in an empty folder', async () => {
    const folder = await makeFolder()
    await mkdir(join(folder, 'empty'))
    expect(await list(folder)).toEqual({ paths: [], warnings: [] })
  })

  test.skipIf(isWindows)('warns of names that no URL can carry', async () => {
    const folder = await makeFolder({ 'a\\b.txt': '', 'c\u0007d.txt': '', 'c\nd.txt': '', 'e.txt': '' })
    const { paths, warnings } = await list(folder)
    expect(paths).toEqual(['e.txt'])
    expect(warnings.toSorted()).toEqual([
      '"a\\\\b.txt" is left out: it holds a backslash, which no URL can name; rename it',
      '"c\\nd.txt" is left out: it holds a control character; rename it',
      '"c\\u0007d.txt" is left out: it holds a control character; rename it',
    ])
  })

  test.skipIf(isWindows)('takes a symlink to a file of the build, and warns of every other', async () => {
    const outside = await makeFolder({ 'secret.txt': 'secret' })
    const folder = await makeFolder({ 'real.txt': 'content', '.env': 'hidden' })
    await symlink('real.txt', join(folder, 'link.txt'))
    await symlink('nothing.txt', join(folder, 'broken.txt'))
    await symlink(join(outside, 'secret.txt'), join(folder, 'outside.txt'))
    await symlink('.env', join(folder, 'environment.txt'))
    await symlink('.', join(folder, 'loop'))
    await symlink('self', join(folder, 'self'))
    const { paths, warnings } = await list(folder)
    expect(paths).toEqual(['link.txt', 'real.txt'])
    expect(warnings.toSorted().map((warning) => warning.replace(/ \(.*\)/, ''))).toEqual([
      'broken.txt is left out: it is a symlink that leads nowhere; remove or mend it',
      'environment.txt is left out: it is a symlink to a file that is not part of the build; copy the file into the build',
      'loop is left out: it is a symlink to a folder; copy the folder into the build',
      'outside.txt is left out: it is a symlink to a file that is not part of the build; copy the file into the build',
      'self is left out: it is a symlink that leads nowhere; remove or mend it',
    ])
  })

  test.skipIf(isWindows)('warns of a FIFO and does not wait for it', async () => {
    const folder = await makeFolder({ 'a.txt': '' })
    execFileSync('mkfifo', [join(folder, 'pipe.txt')])
    expect(await list(folder)).toEqual({
      paths: ['a.txt'],
      warnings: ['pipe.txt is left out: it is not a regular file; remove it from the build'],
    })
  })

  test.skipIf(process.platform !== 'linux')('warns of a name that is not UTF-8', async () => {
    const folder = await makeFolder({ 'a.txt': '' })
    await writeFile(Buffer.concat([Buffer.from(`${folder}/b`), Buffer.from([0xff])]), '')
    const { paths, warnings } = await list(folder)
    expect(paths).toEqual(['a.txt'])
    expect(warnings).toEqual(['"b\uFFFD" is left out: its name is not UTF-8; rename it'])
  })

  test('works in a folder whose own name is a pattern', async () => {
    const folder = await makeFolder()
    await addFiles(join(folder, '[build] (1)'), { 'a.txt': '' })
    expect((await list(join(folder, '[build] (1)'))).paths).toEqual(['a.txt'])
  })
})
