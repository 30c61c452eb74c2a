import { execFileSync } from 'node:child_process'
import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { manifestPath, type Manifest, parseManifest, pendingPath } from '@serve-dist/manifest'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { compareFolder, findUnlisted } from './compare-folder.ts'
import { buildFixture } from '../../test/support/build-fixture.ts'
import { compressibleText } from '../../test/support/compressible-text.ts'

const files = {
  'index.html': compressibleText(2000, 'page'),
  'assets/app.js': compressibleText(5000),
}

function manifestOf(root: string): Manifest {
  return parseManifest(readFileSync(join(root, manifestPath), 'utf8'))
}

async function add(root: string, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(join(root, path, '..'), { recursive: true })
    await writeFile(join(root, path), 'added')
  }
}

describe('compareFolder', () => {
  test('finds no difference directly after the compression', async () => {
    const root = await buildFixture(files)
    expect(compareFolder(root, manifestOf(root))).toEqual({ unlisted: [], missing: [], changed: [] })
  })

  test('names added, deleted and changed files and variants', async () => {
    const root = await buildFixture(files)
    await add(root, 'about.html', 'blog/first/index.html', 'assets/app.js.map')
    await rm(join(root, 'assets/app.js.br'))
    await writeFile(join(root, 'index.html'), `${files['index.html']}more`)
    await writeFile(join(root, 'assets/app.js'), `~${files['assets/app.js'].slice(1)}`)
    expect(compareFolder(root, manifestOf(root))).toEqual({
      unlisted: ['about.html', 'assets/app.js.map', 'blog/first/index.html'],
      missing: ['assets/app.js.br'],
      changed: ['assets/app.js', 'index.html'],
    })
  })

  test('ignores a file that was rewritten with the same bytes', async () => {
    const root = await buildFixture(files)
    await writeFile(join(root, 'index.html'), files['index.html'])
    expect(compareFolder(root, manifestOf(root)).changed).toEqual([])
  })

  test.skipIf(process.platform === 'win32')(
    'finds changed bytes in a file with an earlier time',
    async () => {
      const root = await buildFixture(files)
      await writeFile(join(root, 'index.html'), `~${files['index.html'].slice(1)}`)
      await utimes(join(root, 'index.html'), 0, 0)
      expect(compareFolder(root, manifestOf(root)).changed).toEqual(['index.html'])
    },
  )

  test('reports a folder instead of a file as changed', async () => {
    const root = await buildFixture(files)
    await rm(join(root, 'index.html'))
    await mkdir(join(root, 'index.html'))
    expect(compareFolder(root, manifestOf(root)).changed).toEqual(['index.html'])
  })
})

describe('findUnlisted', () => {
  test('skips hidden files and the folder .serve-dist, but not .well-known', async () => {
    const root = await buildFixture(files)
    await add(root, '.env', '.vite/manifest.json', 'assets/.DS_Store', '.well-known/security.txt')
    expect(findUnlisted(root, manifestOf(root))).toEqual(['.well-known/security.txt'])
  })

  test.each<[string, readonly string[] | undefined, readonly string[] | undefined, readonly string[]]>([
    ['no globs', undefined, undefined, ['a.txt', 'drafts/b.txt', 'new.html']],
    ['a file', undefined, ['a.txt'], ['drafts/b.txt', 'new.html']],
    ['a folder by its name', undefined, ['drafts'], ['a.txt', 'new.html']],
    ['a glob', undefined, ['**/*.txt'], ['new.html']],
    ['included globs', ['**/*.html', 'drafts/**'], undefined, ['drafts/b.txt', 'new.html']],
    ['a negative glob', ['**', '!drafts'], undefined, ['a.txt', 'new.html']],
    ['a pattern that begins with an exclamation mark', ['!(a|b).*'], undefined, ['new.html']],
  ])('applies the selection of the manifest: %s', async (_what, include, exclude, expected) => {
    const root = await buildFixture(files)
    await add(root, 'a.txt', 'drafts/b.txt', 'new.html')
    const selection = { ...(include && { include }), ...(exclude && { exclude }) }
    expect(findUnlisted(root, { ...manifestOf(root), selection })).toEqual(expected)
  })

  test('matches a name with brackets literally', async () => {
    const root = await buildFixture(files)
    await add(root, 'photos/[id].txt')
    const selection = { exclude: ['photos/[id].txt'] }
    expect(findUnlisted(root, { ...manifestOf(root), selection })).toEqual([])
  })

  test('finds variants of another tool, but not those of an interrupted compression', async () => {
    const root = await buildFixture({ ...files, 'tiny.txt': 'tiny' })
    await add(root, 'tiny.txt.br')
    expect(findUnlisted(root, manifestOf(root))).toEqual(['tiny.txt.br'])
    await add(root, pendingPath)
    expect(findUnlisted(root, manifestOf(root))).toEqual([])
  })

  test('skips the output of a server build in a subfolder', async () => {
    const root = await buildFixture(files)
    await add(root, 'server/entry.mjs', 'server/chunks/a.mjs')
    expect(findUnlisted(root, manifestOf(root))).toHaveLength(2)
    await mkdir(join(root, 'server/.serve-dist'))
    await writeFile(join(root, 'server/.serve-dist/record.json'), '{"version":1,"role":"server"}')
    expect(findUnlisted(root, manifestOf(root))).toEqual([])
  })

  test.skipIf(process.platform === 'win32')('does not block on a FIFO as a record', async () => {
    const root = await buildFixture(files)
    await add(root, 'server/entry.mjs')
    await mkdir(join(root, 'server/.serve-dist'))
    execFileSync('mkfifo', [join(root, 'server/.serve-dist/record.json')])
    expect(findUnlisted(root, manifestOf(root))).toEqual(['server/entry.mjs'])
  })

  test.skipIf(process.platform === 'win32')(
    'finds symlinks to files of the build, and skips all others',
    async () => {
      const root = await buildFixture(files)
      const outside = await buildFixture({ 'secret.txt': 'secret' })
      await symlink('index.html', join(root, 'home.html'))
      await symlink('nothing.html', join(root, 'broken.html'))
      await symlink(join(outside, 'secret.txt'), join(root, 'secret.txt'))
      await symlink(outside, join(root, 'outside'))
      await symlink('.', join(root, 'loop'))
      expect(findUnlisted(root, manifestOf(root))).toEqual(['home.html'])
    },
  )
})
