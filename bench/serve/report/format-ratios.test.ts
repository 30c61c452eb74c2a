import { describe, expect, test } from 'vitest'
import { formatRatios } from './format-ratios.ts'
import type { Row, Sample } from './report.ts'
import { reportOf, voidRow } from './report-of.ts'

const report = {
  ...reportOf({ floor: 1000, 'serve-dist': [800, 1000], sirv: 200, express: 100, nginx: 2000 }),
  titles: { bundles50k: 'Five bundles' },
}

function withSamples(row: Row, changed: Partial<Sample>): Row {
  return Object.assign({}, row, {
    samples: row.samples.map((sample) => Object.assign({}, sample, changed)),
  })
}

describe('formatRatios', () => {
  test('has a line for each load of ours, with ratios within the rounds', () => {
    expect(formatRatios(report).replaceAll(/ +/g, ' ')).toContain(
      '| Five bundles | serve-dist | 64 | 0.80 | 4.00 | 8.00 | – | – | 0.40 | 2.0 | 2.0 (sirv) |',
    )
  })

  test('has a line for each engine that was measured', () => {
    const text = formatRatios(reportOf({ 'serve-dist-native': 4000, 'serve-dist-node': 1000, nginx: 2000 }))
    const lines = text.matchAll(/serve-dist-(\w+) .* (\d\.\d\d) \|.*\|.*\|/g)
    expect(Array.from(lines, ([, engine, ratio]) => [engine, ratio])).toEqual([
      ['native', '2.00'],
      ['node', '0.50'],
    ])
  })

  test('says how many rounds there were, and which command', () => {
    const text = formatRatios({ ...report, command: 'one --a' })
    expect(text).toContain('Medians of 1 to 2 rounds')
    expect(text).toContain('by `one --a`')
    const ours = report.rows.filter(({ server }) => server === 'serve-dist')
    expect(formatRatios({ ...report, rows: ours })).toContain('Medians of 2 rounds')
  })

  test('says void where a reference is, and marks what the load generator limited', () => {
    const rows = report.rows
      .filter(({ server }) => server !== 'sirv')
      .map((row) => (row.server === 'nginx' ? withSamples(row, { cpuShare: 0.5 }) : row))
    expect(formatRatios({ ...report, rows: [...rows, voidRow('sirv')] }).replaceAll(/ +/g, ' ')).toContain(
      '| Five bundles | serve-dist | 64 | 0.80 | void | 8.00 | – | – | 0.40* | 2.0 | 2.0 (express) |',
    )
  })
})
