import { describe, expect, test } from 'vitest'
import { drawChart } from './draw-chart.ts'
import { reportOf, voidRow } from './report-of.ts'

describe('drawChart', () => {
  test('draws the fastest first, the bars in proportion', () => {
    const report = reportOf({ sirv: 250, 'serve-dist': 1000 })
    const chart = drawChart(report, report.rows)
    expect(chart.indexOf('>serve-dist 1.0.0<')).toBeLessThan(chart.indexOf('>sirv 1.0.0<'))
    const [longest, shortest] = Array.from(chart.matchAll(/<rect [^>]*width="([\d.]+)"/g), ([, width]) =>
      Number(width),
    )
    expect(longest).toBe(4 * (shortest ?? 0))
    expect(chart).toContain('1,000 (4.0 × sirv)')
  })

  test('names void rows and escapes what is text', () => {
    const report = { ...reportOf({ 'serve-dist': 1 }), titles: { bundles50k: 'a < b & c' } }
    const chart = drawChart(report, [...report.rows, voidRow('h2o')])
    expect(chart).toContain('void: h2o')
    expect(chart).toContain('a &lt; b &amp; c')
  })
})
