import { describe, expect, test } from 'vitest'
import type { Manifest } from './manifest.ts'
import { stringifyManifest } from './stringify-manifest.ts'

const file = {
  variants: [{ sha256: 'c'.repeat(64), size: 10, coding: 'br' as const, extra: true }],
  lastModified: '2026-01-31T12:00:00Z',
  cache: 'revalidate' as const,
  sha256: 'd'.repeat(64),
  size: 2048,
  mediaType: 'text/plain; charset=utf-8',
  path: 'robots.txt',
}
const manifest: Manifest = {
  files: [file, { ...file, path: 's.txt' }],
  lastModified: '2026-01-31T12:00:00Z',
  assetsDirectory: '',
  appType: 'mpa',
  base: '/',
  buildId: 'e'.repeat(32),
  version: 1,
}

describe('stringifyManifest', () => {
  test('does not depend on the order of keys or on unknown fields', () => {
    const text = stringifyManifest(manifest)
    const { files, ...head } = manifest
    const reordered: Manifest = { ...head, files }
    expect(stringifyManifest(reordered)).toBe(text)
    expect(text).not.toContain('extra')
    expect(text.indexOf('"path"')).toBeLessThan(text.indexOf('"mediaType"'))
  })

  test('writes one line per file and ends with a line feed', () => {
    const lines = stringifyManifest(manifest).split('\n')
    expect(lines).toHaveLength(5)
    expect(lines[1]).toMatch(/^\{"path":"robots\.txt"/)
    expect(lines.at(-1)).toBe('')
  })

  test('writes links in order and omits missing values', () => {
    const links = [
      { inDocument: true, rel: 'modulepreload', path: 'a.js' },
      { inDocument: false, crossorigin: true, as: 'style', rel: 'preload', path: 'a.css' },
    ] as const
    expect(stringifyManifest({ ...manifest, files: [{ ...file, links }] })).toContain(
      '"links":[{"path":"a.js","rel":"modulepreload","inDocument":true},' +
        '{"path":"a.css","rel":"preload","as":"style","crossorigin":true,"inDocument":false}]',
    )
  })

  test('writes the stem after the path, and the selection before the files', () => {
    const selection = { exclude: ['drafts/**'], include: ['**'] }
    const text = stringifyManifest({ ...manifest, selection, files: [{ ...file, stem: 'r-[hash].txt' }] })
    expect(text).toContain('"selection":{"include":["**"],"exclude":["drafts/**"]},"files":[')
    expect(text).toContain('{"path":"robots.txt","stem":"r-[hash].txt","mediaType"')
  })

  test('writes a build without files', () => {
    expect(JSON.parse(stringifyManifest({ ...manifest, files: [] }))).toMatchObject({ files: [] })
  })
})
