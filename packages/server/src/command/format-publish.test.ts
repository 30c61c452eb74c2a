import type { PublishSummary } from '@serve-dist/store'
import { describe, expect, test } from 'vitest'
import { formatPublish } from './format-publish.ts'

const deltas = {
  codings: ['dcz', 'dcb'],
  isThere: false,
  made: 3,
  bytes: 2048,
  reused: 0,
  tooLarge: 0,
  leftOut: 0,
  milliseconds: 1234,
} as const

const summary: PublishSummary = {
  id: 'b'.repeat(32),
  files: 3,
  replaced: 'a'.repeat(32),
  wasCurrent: false,
  isDryRun: false,
  new: { files: 2, blobs: 4, bytes: 3000 },
  reused: { files: 1, blobs: 1, bytes: 10 },
  download: {
    files: 2,
    bytes: 20_500,
    bytesWithDeltas: 1500,
    changes: [
      { path: 'assets/app-2.js', bytes: 20_000, br: 20_000, zstd: 21_000, delta: 1000, coding: 'dcz' },
      { path: 'index.html', bytes: 500 },
    ],
  },
  deltas,
  kept: { files: 1, blobs: 1, bytes: 10 },
  generations: ['b'.repeat(32), 'a'.repeat(32)],
  pruned: { generations: [], blobs: 0, bytes: 0 },
  requests: 9,
  milliseconds: 1500,
  warnings: [],
}

function linesOf(change: Partial<PublishSummary>): readonly string[] {
  return formatPublish({ ...summary, ...change }, '/srv/store').split('\n')
}

describe('formatPublish', () => {
  test('shows the download of a returning visitor with and without deltas, and its files', () => {
    expect(linesOf({}).slice(2, 6)).toEqual([
      '  returning visitors download at most 2 files, 20.5 kB; 1.5 kB with deltas (Chromium)',
      '    with a delta          br     zstd   delta',
      '    assets/app-2.js  20.0 kB  21.0 kB  1.0 kB',
      '  deltas: 3 made in 1.2 s, 2.0 kB in dcz and dcb',
    ])
  })

  test('counts the environment module, which is neither new nor reused', () => {
    expect(linesOf({})[1]).toBe('  3 files: 2 new, 1 reused; 4 objects and 3.0 kB sent')
    expect(linesOf({ files: 4 })[1]).toMatch(/^ {2}4 files: 2 new, 1 reused, and the environment module; /)
  })

  test('lists ten changed files and counts the rest', () => {
    const changes = Array.from({ length: 12 }, (_, index) => ({
      path: `assets/${index}.js`,
      bytes: 100,
      delta: 10,
      coding: 'dcz' as const,
    }))
    const lines = linesOf({ download: { files: 12, bytes: 1200, bytesWithDeltas: 120, changes } })
    expect(lines.filter((line) => line.startsWith('    assets/'))).toHaveLength(10)
    expect(lines).toContain('    … and 2 more (--json has all)')
  })

  test('shortens long paths to the width of a terminal', () => {
    const path = `assets/${'long-name-'.repeat(8)}AAAA1111.js`
    const changes = [{ path, bytes: 20_000, br: 20_000, zstd: 21_000, delta: 1000, coding: 'dcz' as const }]
    const download = { files: 1, bytes: 20_000, bytesWithDeltas: 1000, changes }
    const row = (width?: number) => formatPublish({ ...summary, download }, 'x', width).split('\n')[4]
    expect(row()).toContain(`    ${path}  20.0 kB`)
    expect(row(80)).toMatch(/^ {4}….*-long-name-AAAA1111\.js {2}20\.0 kB {2}21\.0 kB {2}1\.0 kB$/)
    expect(row(80)).toHaveLength(80)
  })

  test.each([
    [{ ...deltas, made: 0 }, 'none to make'],
    [{ ...deltas, isThere: true }, 'made when the build was first published'],
    [
      { ...deltas, made: 0, reused: 4, tooLarge: 2, leftOut: 5 },
      '4 from earlier builds; 2 not small enough to keep; 5 skipped because the time limit was reached',
    ],
    [
      { ...deltas, codings: [] },
      `none: Node ${process.version} cannot make them; use Node 22.19, 24.6 or newer`,
    ],
  ])('describes the deltas %j', (made, line) => {
    expect(linesOf({ deltas: made })).toContain(`  deltas: ${line}`)
  })

  test('omits deltas that are disabled, and shows the deltas that a dry run would make', () => {
    const { deltas: _left, ...without } = summary
    expect(formatPublish(without, 'x')).not.toContain('deltas:')
    expect(linesOf({ isDryRun: true })).toContain('  deltas: 3 to make')
  })
})
