import type { Manifest } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { describeInheritance, describeKnowledge } from './compress-command.ts'

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

describe('describeInheritance', () => {
  test('names what is no longer immutable, and what nobody served before', () => {
    const earlier = manifestOf({ 'a.js': 'immutable', 'b.js': 'immutable', 'index.html': 'revalidate' })
    const next = manifestOf({ 'a.js': 'immutable', 'b.js': 'revalidate', 'late.html': 'revalidate' })
    expect(describeInheritance(earlier, next)).toEqual([
      'b.js changed under a hashed name: no longer immutable, so that browsers ask again',
      'late.html was not part of the build before and will be served; --exclude leaves files out',
    ])
    expect(describeInheritance(next, next)).toEqual([])
    expect(describeInheritance(undefined, next)).toEqual([])
  })
})

describe('describeKnowledge', () => {
  const now = new Date(2026, 0, 31, 14, 0)
  const today = new Date(2026, 0, 31, 12, 3).toISOString()

  test('says which build the names are known from', () => {
    const known = { source: 'record', recordedAt: today, hashedNames: 41, manifest } as const
    expect(describeKnowledge(known, now)).toBe('41 hashed names known from the build of 12:03')
    const yesterday = { ...known, hashedNames: 1, recordedAt: new Date(2026, 0, 30, 9, 5).toISOString() }
    expect(describeKnowledge(yesterday, now)).toBe('1 hashed name known from the build of 2026-01-30 09:05')
    expect(describeKnowledge({ ...known, source: 'cache' }, now)).toContain(
      '12:03 (its record is in the cache',
    )
  })

  test('says what is lost without a record, and how to mend it', () => {
    const unknown = { source: 'none', hashedNames: 0, manifest } as const
    expect(describeKnowledge(unknown)).toMatch(
      /^no record of a build found, so no file is immutable: .*--imm/s,
    )
    expect(describeKnowledge({ ...unknown, source: 'manifest', hashedNames: 2 })).toBe(
      '2 hashed names known from the earlier manifest; no record of a build of this folder found',
    )
    expect(describeKnowledge({ ...unknown, hashedNames: 2 })).toMatch(
      /^2 hashed names known from other builds/,
    )
    const ruled = { ...manifest, serving: { immutable: ['a/*'] } }
    expect(describeKnowledge({ ...unknown, manifest: ruled })).toBe(
      'no record of a build found; immutable by your globs: a/*',
    )
  })
})
