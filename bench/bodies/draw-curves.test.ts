import { describe, expect, test } from 'vitest'
import { drawCurves } from './draw-curves.ts'
import type { BodiesReport, Point } from './report.ts'

const at = (way: string, size: number, rate: number): Point => ({
  node: 'v24.0.0',
  cache: 'hot',
  connections: 10,
  size,
  way,
  rates: [rate],
  cpu: [],
  p99: [],
})
const machine = { processor: 'a < b', cores: 2, memoryBytes: 1, system: 'Linux', node: '24.0.0' }
const reportOf = (points: readonly Point[]): BodiesReport => ({
  date: '2026-11-22T00:00:00Z',
  machine,
  seconds: 1,
  points,
})

describe('drawCurves', () => {
  test('draws each way as a share of memory, the smallest size at the left', () => {
    const chart = drawCurves(
      reportOf([at('memory', 64, 100), at('path', 64, 50), at('memory', 4, 1000), at('path', 4, 250)]),
    )
    const [, line = ''] = /<polyline[^>]*points="([^"]*)"/.exec(chart) ?? []
    const [small, large] = line.split(' ').map((pair) => pair.split(',').map(Number))
    const [, dashed] = /<line class="memory"[^>]*y1="([\d.]+)"/.exec(chart) ?? []
    expect([small?.[0], large?.[0]]).toEqual([0, 150])
    // 110 high for 1.25 times memory, downwards.
    expect([Number(dashed), small?.[1], large?.[1]]).toEqual([22, 88, 66])
    expect(chart).toContain('a &lt; b')
  })

  test('refuses what has nothing to be compared with', () => {
    expect(() => drawCurves(reportOf([at('path', 64, 50)]))).toThrow('no answers from memory of 64 KiB')
  })
})
