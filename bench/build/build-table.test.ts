import { describe, expect, test } from 'vitest'
import { type BuildRow, type BuildTable, formatBuildTable } from './build-table.ts'
import { compareBuilds } from './compare-builds.ts'
import { formatTargets, targetsOf } from './targets.ts'

/** The lines of a table, whose columns are padded. */
const linesOf = (text: string): string[] => text.replaceAll(/ +/g, ' ').split('\n')

function row(contender: string, wallSeconds: readonly number[], reason?: string): BuildRow {
  return {
    contender,
    version: '1.0.0',
    samples: wallSeconds.map((seconds) => ({
      wallSeconds: seconds,
      cpuSeconds: seconds * 2,
      peakBytes: seconds * 100 * 1024 * 1024,
      writtenBytes: 1e6,
      variantBytes: contender === 'vite' ? {} : { '.gz': 3000, '.br': 2000 },
    })),
    void: reason,
  }
}

function table(rows: readonly BuildRow[]): BuildTable {
  return { tree: 'editor', title: 'editor', codecSeconds: 18, zstdSeconds: 6, rows }
}

const measured = table([
  row('vite', [1, 1, 1]),
  row('serve-dist', [11, 12, 10]),
  row('serve-dist-warm', [1.1, 1.2, 1.3]),
  row('astro', [21, 31, 11]),
  row('compression', [], 'a.js.br is missing'),
])
const machine = { processor: '', cores: 2, memoryBytes: 0, system: '', node: '' }
const report = { date: '', command: '', machine, tables: [measured] }

describe('formatBuildTable', () => {
  test('compares what is above Vite, round by round, and gives a void row no number', () => {
    const [, , vite, ours, , astro, compression] = linesOf(formatBuildTable(measured))
    expect(vite).toBe('| vite 1.0.0 | 1.00 | 0 % | – | – | 2.0 | 100 | – | 1.0 | – | – |')
    expect(ours).toBe('| serve-dist 1.0.0 | 11.00 | 18 % | 10.00 | 1.00 | 22.0 | 1100 | 1000 | 1.0 | 3 | 2 |')
    expect(astro).toContain('| 20.00 | 2.00 |')
    expect(compression).toMatch(/^\| compression 1\.0\.0 \| void: a\.js\.br is missing \|[ |]+$/)
  })
})

describe('targetsOf', () => {
  test('measures by the codecs’ own time and by the cold pass', () => {
    expect(formatTargets(targetsOf(measured, 2)).split('\n')).toEqual([
      'met: cold ÷ (codec CPU ÷ cores) = 1.111 (at most 1.15)',
      'MISSED: peak above Vite, MiB = 1000.000 (at most 300)',
      'met: warm ÷ cold = 0.018 (at most 0.05)',
    ])
  })

  test('takes ratios within a round, which what slows a round leaves alone', () => {
    const rows = [
      row('vite', [1, 1, 1]),
      row('serve-dist', [11, 21, 41]),
      row('serve-dist-hasty', [21, 21, 39]),
    ]
    expect(formatTargets(targetsOf(table(rows), 2))).toContain('met: durable ÷ not = 1.000 (at most 1.05)')
    expect(linesOf(formatBuildTable(table(rows))).join('\n')).toMatch(
      /\| serve-dist-hasty 1\.0\.0 \| 21\.00 \| 86 % \| 20\.00 \| 1\.00 \|/,
    )
  })

  test('judges the default configuration by the CPU time of its three codecs', () => {
    const rows = [row('vite', [1, 1]), row('serve-dist', [10, 10]), row('serve-dist-zstd', [13, 13])]
    expect(
      formatTargets(targetsOf(table(rows), 2))
        .split('\n')
        .slice(2),
    ).toEqual([
      'met: cold with zstd ÷ (codec CPU ÷ cores) = 1.000 (at most 1.15)',
      'MISSED: peak above Vite with zstd, MiB = 1200.000 (at most 300)',
    ])
  })

  test('says nothing of a row that is void', () => {
    expect(targetsOf(table([row('vite', [1]), row('serve-dist', [], 'wrong')]), 2)).toEqual([])
  })
})

describe('compareBuilds', () => {
  test('calls noise what the spread could hide', () => {
    const before = table([row('serve-dist', [22, 24, 20]), row('serve-dist-warm', [1.2, 1.3, 1.2])])
    const lines = linesOf(compareBuilds(report, { ...report, tables: [before] }))
    expect(lines.slice(2)).toEqual([
      '| editor | serve-dist | -50.0 % | -50.0 % | -50.0 % | +0.0 % (noise) |',
      '| editor | serve-dist-warm | +0.0 % (noise) | +0.0 % (noise) | +0.0 % (noise) | +0.0 % (noise) |',
    ])
  })
})
