import type { Manifest } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { describeManifestChanges, describeNameSource, describeLostManifest } from './compress-command.ts'

const manifest: Manifest = {
  version: 1,
  buildId: 'b'.repeat(32),
  base: '/',
  appType: 'spa',
  assetsDirectory: 'assets',
  lastModified: '2026-01-31T12:00:00Z',
  files: [],
}

function manifestOf(files: Readonly<Record<string, 'immutable' | 'revalidate'>>): Manifest {
  const described = { mediaType: 'a/b', size: 1, sha256: '0', lastModified: '', variants: [] }
  return {
    ...manifest,
    files: Object.entries(files).map(([path, cache]) => Object.assign({ path, cache }, described)),
  }
}

const isThere = (path: string): boolean => path === 'index.html'

describe('describeManifestChanges', () => {
  test('names missing pages and rules, but no files that a flag excludes', () => {
    const page = { mediaType: 'text/html; charset=utf-8', size: 1, sha256: '0', cache: 'revalidate' } as const
    const earlier = manifestOf({ _headers: 'revalidate', 'old-1.js': 'immutable' })
    const more = { ...page, lastModified: '', variants: [] }
    const files = ['about.html', 'index.html'].map((path) => Object.assign({ path }, more))
    expect(
      describeManifestChanges({ ...earlier, files: [...earlier.files, ...files] }, manifest, isThere),
    ).toEqual([
      '_headers, about.html were in the previous build and are missing now. If a copy lost them, copy the whole folder again.',
    ])
  })

  test('names files that are no longer immutable, and new files', () => {
    const earlier = manifestOf({ 'a.js': 'immutable', 'b.js': 'immutable', 'index.html': 'revalidate' })
    const next = manifestOf({
      'a.js': 'immutable',
      'b.js': 'revalidate',
      'late.html': 'revalidate',
      _headers: 'revalidate',
      _redirects: 'revalidate',
    })
    expect(describeManifestChanges(earlier, next, isThere)).toEqual([
      'b.js changed without a new hashed name. Browsers now revalidate instead of trusting their cache.',
      'late.html was not in the previous build and will be served. Use --exclude to leave files out.',
    ])
    expect(describeManifestChanges(next, next, isThere)).toEqual([])
    expect(describeManifestChanges(undefined, next, isThere)).toEqual([])
  })
})

describe('describeLostManifest', () => {
  const variants = (['zstd', 'br'] as const).map((coding) => ({ coding, size: 1, sha256: '0' }))
  const withVariants = ({ files, ...rest }: Manifest): Manifest => ({
    ...rest,
    files: files.map((file) => (file.path === 'a.js' ? { ...file, variants } : file)),
  })

  test('warns about a lost manifest if the folder contains variants', () => {
    const found = { 'a.js': 'revalidate', 'a.js.zst': 'revalidate', 'a.js.br': 'revalidate' } as const
    expect(describeLostManifest(withVariants(manifestOf(found)))).toMatch(
      /^1 file had variants already, such as a\.js: .* every file here will be served/,
    )
  })

  test.each([[{ 'a.js': 'revalidate' }], [{ 'a.js': 'revalidate', 'a.js.br': 'revalidate' }]] as const)(
    'returns no warning for %j',
    (found) => {
      expect(describeLostManifest(withVariants(manifestOf(found)))).toBeUndefined()
    },
  )
})

describe('describeNameSource', () => {
  const now = new Date(2026, 0, 31, 14, 0)
  const today = new Date(2026, 0, 31, 12, 3).toISOString()

  test('names the build that the hashed names come from', () => {
    const known = { source: 'record', recordedAt: today, hashedNames: 41, manifest } as const
    expect(describeNameSource(known, now)).toBe('41 hashed names known from the build of 12:03')
    const yesterday = { ...known, hashedNames: 1, recordedAt: new Date(2026, 0, 30, 9, 5).toISOString() }
    expect(describeNameSource(yesterday, now)).toBe('1 hashed name known from the build of 2026-01-30 09:05')
    expect(describeNameSource({ ...known, source: 'cache' }, now)).toContain(
      '12:03 (its record is in the cache',
    )
  })

  test('says what is lost without a record, and how to fix it', () => {
    const unknown = { source: 'none', hashedNames: 0, manifest } as const
    expect(describeNameSource(unknown)).toMatch(
      /^no record of a build found, so no file is immutable: .*integration \(https:\S+\/frameworks\).*--imm/s,
    )
    expect(describeNameSource({ ...unknown, source: 'manifest', hashedNames: 2 })).toBe(
      '2 hashed names known from the earlier manifest; no record of a build of this folder found',
    )
    expect(describeNameSource({ ...unknown, hashedNames: 2 })).toMatch(
      /^2 hashed names known from other builds/,
    )
    const ruled = { ...manifest, serving: { immutable: ['a/*'] } }
    expect(describeNameSource({ ...unknown, manifest: ruled })).toBe(
      'no record of a build found; immutable by your globs: a/*',
    )
  })
})
