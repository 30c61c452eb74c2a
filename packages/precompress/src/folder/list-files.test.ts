import { execFileSync } from 'node:child_process'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import picomatch from 'picomatch'
import { type FilePatterns, listFiles } from './list-files.ts'
import { addFiles, makeFolder } from '../../test/support/make-folder.ts'

const everything: FilePatterns = { include: ['**'], exclude: [] }
const isWindows = process.platform === 'win32'

async function list(
  folder: string,
  patterns: FilePatterns = everything,
): Promise<{ paths: string[]; warnings: string[] }> {
  const warnings: string[] = []
  const files = await listFiles(folder, { patterns, warn: (message) => warnings.push(message) })
  return { paths: files.map(({ path }) => path), warnings }
}

describe('listFiles', () => {
  test('returns names unchanged, in the order of UTF-16 code units', async () => {
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

  test('returns sizes in bytes', async () => {
    const folder = await makeFolder({ 'ü.txt': 'üü', 'empty.txt': '' })
    expect(await listFiles(folder, { warn: () => {} })).toEqual([
      { path: 'empty.txt', size: 0 },
      { path: 'ü.txt', size: 4 },
    ])
  })

  test('omits dotfiles and state of tools without a warning', async () => {
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

  test('applies the patterns', async () => {
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

  test('reads `!(a)` at the start as an extended pattern, not as a negation', async () => {
    const folder = await makeFolder({ 'a.js': '', 'b.js': '', 'c/d.js': '' })
    expect((await list(folder, { include: ['!(a).js'], exclude: [] })).paths).toEqual(['b.js'])
    expect((await list(folder, { include: ['**'], exclude: ['!(a).js'] })).paths).toEqual(['a.js', 'c/d.js'])
  })

  test("finds nothing below a file that has the name of a pattern's folder", async () => {
    const folder = await makeFolder({ assets: 'a file', 'b.js': 'b' })
    const patterns = { include: ['assets/*.js', 'assets/**/*.css', 'b.js'], exclude: [] }
    expect((await listFiles(folder, { patterns, warn: () => {} })).map(({ path }) => path)).toEqual(['b.js'])
  })

  test('lists nothing in an empty folder', async () => {
    const folder = await makeFolder()
    await mkdir(join(folder, 'empty'))
    expect(await list(folder)).toEqual({ paths: [], warnings: [] })
  })

  test.skipIf(isWindows)('warns about names that URLs cannot contain', async () => {
    const folder = await makeFolder({ 'a\\b.txt': '', 'c\u0007d.txt': '', 'c\nd.txt': '', 'e.txt': '' })
    const { paths, warnings } = await list(folder)
    expect(paths).toEqual(['e.txt'])
    expect(warnings.toSorted()).toEqual([
      'cannot include "a\\\\b.txt": it holds a backslash, which no URL can name. Rename it.',
      'cannot include "c\\nd.txt": it holds a control character. Rename it.',
      'cannot include "c\\u0007d.txt": it holds a control character. Rename it.',
    ])
  })

  test.skipIf(isWindows)('accepts symlinks to files of the build, and warns about all others', async () => {
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
      'cannot include broken.txt: it is a symlink without a target. Fix or remove the symlink.',
      'cannot include environment.txt: it is a symlink to a file outside the build. Copy the file into the build.',
      'cannot include loop: it is a symlink to a folder. Copy the folder into the build.',
      'cannot include outside.txt: it is a symlink to a file outside the build. Copy the file into the build.',
      'cannot include self: it is a symlink without a target. Fix or remove the symlink.',
    ])
  })

  test.skipIf(isWindows)('warns about a FIFO without waiting for it', async () => {
    const folder = await makeFolder({ 'a.txt': '' })
    execFileSync('mkfifo', [join(folder, 'pipe.txt')])
    expect(await list(folder)).toEqual({
      paths: ['a.txt'],
      warnings: ['cannot include pipe.txt: it is not a regular file. Remove it from the build.'],
    })
  })

  test.skipIf(process.platform !== 'linux')('warns about a name that is not UTF-8', async () => {
    const folder = await makeFolder({ 'a.txt': '' })
    await writeFile(Buffer.concat([Buffer.from(`${folder}/b`), Buffer.from([0xff])]), '')
    const { paths, warnings } = await list(folder)
    expect(paths).toEqual(['a.txt'])
    expect(warnings).toEqual(['cannot include "b\uFFFD": its name is not UTF-8. Rename it.'])
  })

  test.skipIf(process.platform !== 'linux')('warns about folders whose names it cannot read', async () => {
    const folder = await makeFolder({ 'a.txt': '', 'b\nc/d.txt': '', '\uFFFD/e.txt': '' })
    await mkdir(Buffer.concat([Buffer.from(`${folder}/f`), Buffer.from([0xff])]))
    const { paths, warnings } = await list(folder)
    expect(paths).toEqual(['a.txt', '\uFFFD/e.txt'])
    expect(warnings.toSorted()).toEqual([
      'cannot include "b\\nc": it holds a control character. Rename it.',
      'cannot include "f\uFFFD": its name is not UTF-8. Rename it.',
    ])
  })

  test.skipIf(isWindows)('does not follow a symlink that a pattern names', async () => {
    const folder = await makeFolder({ 'real/a.js': '' })
    await symlink('real', join(folder, 'link'))
    const warnings = ['cannot include link: it is a symlink to a folder. Copy the folder into the build.']
    for (const include of ['link/**', 'link/a.js', '{link,none}/*.js']) {
      expect(await list(folder, { include: [include], exclude: [] })).toEqual({ paths: [], warnings })
    }
  })

  test.skipIf(isWindows || process.getuid?.() === 0)('names the subfolder that it may not read', async () => {
    const folder = await makeFolder({ 'closed/a.js': '' })
    await chmod(join(folder, 'closed'), 0o000)
    onTestFinished(async () => await chmod(join(folder, 'closed'), 0o700))
    for (const patterns of [undefined, { include: ['**'], exclude: [] }]) {
      await expect(list(folder, patterns)).rejects.toThrow(
        `${join(folder, 'closed')}: cannot list this folder (EACCES: permission denied)`,
      )
    }
  })

  test.each(['[build] (1)', ...(sep === '/' ? ['back\\slash'] : [])])(
    'lists the folder %s, whose name looks like a pattern',
    async (name) => {
      const folder = join(await makeFolder(), name)
      await addFiles(folder, { 'a.txt': '', 'b/c.txt': '' })
      const patterns = [undefined, ['**'], ['a.txt', 'b/*']].map(
        (include) => include && { include, exclude: [] },
      )
      for (const given of patterns) expect((await list(folder, given)).paths).toEqual(['a.txt', 'b/c.txt'])
    },
  )
})

describe('the patterns of listFiles', () => {
  const names = [
    '.well-known/security.txt',
    'a.js',
    'a.js.map',
    'admin/index.html',
    'assets/a-DiwrgTda.js',
    'assets/chunks/b.js',
    'assets/chunks/b.js.map',
    'assets/logo.svg',
    'de/a.js',
    'drafts/b.js',
    'drafts/deep/c.md',
    'index.html',
    'photos/[id].jpg',
    'photos/1 (2).jpg',
    'stats.html',
  ].toSorted()

  // All patterns of the documents, and one of every other kind.
  test.each([
    '**',
    '**/*',
    '**/*.map',
    '**/*.{js,css}',
    '*.html',
    'admin/**',
    'assets/**',
    'drafts/**',
    'index.html',
    'stats.html',
    './*.map',
    './assets/**',
    'assets/*',
    'assets/**/*.js',
    '**/[a-c].*',
    '**/!(a|b).js',
    '!(a).js',
    '@(a|index).*',
    '{a,index}.*',
    '{assets,drafts}/**',
    'de/?.js',
    'drafts',
    'photos/\\[id\\].jpg',
    'photos/1 (2).jpg',
    '**/deep/**',
    '**/.well-known/**',
    'nothing/**',
  ])('match the same names as picomatch: %s', async (pattern) => {
    const folder = await makeFolder(Object.fromEntries(names.map((name) => [name, ''])))
    const matches = picomatch(pattern, { dot: true })
    const included = await list(folder, { include: [pattern], exclude: [] })
    expect(included).toEqual({ paths: names.filter((name) => matches(name)), warnings: [] })
    // An excluded folder excludes everything in it.
    const isExcluded = picomatch([pattern, `${pattern}/**`], { dot: true })
    const left = await list(folder, { include: ['**'], exclude: [pattern] })
    expect(left).toEqual({ paths: names.filter((name) => !isExcluded(name)), warnings: [] })
  })
})
