import { describe, expect, test } from 'vitest'
import { compareBaseline, findFailures } from './compare-baseline.ts'
import type { Report } from './report.ts'

const machine = { processor: 'one', cores: 1, memoryBytes: 1, system: 'Linux', node: '20.0.0' }
const sample = {
  p50Milliseconds: 1,
  p99Milliseconds: 2,
  lateMilliseconds: 0,
  wireBytesPerRequest: 100,
  cpuMicrosecondsPerRequest: 50,
  cpuShare: 1,
  bootMilliseconds: 100,
  foreignCpuShare: 0,
  heldBytes: 1e6,
}

/** Returns a report with these requests per second. A server without rounds has a void row. */
function reportOf(rates: Readonly<Record<string, readonly number[]>>): Report {
  const rows = Object.entries(rates).map(([server, rounds]) => ({
    server,
    version: '1.0.0',
    workload: 'bundles50k',
    connections: 64,
    samples: rounds.map((requestsPerSecond) => Object.assign({ requestsPerSecond }, sample)),
    codings: ['zstd'],
    remarks: [],
    void: rounds.length === 0 ? 'why' : undefined,
  }))
  return { date: '2026-01-01', command: 'pnpm bench:serve', machine, missing: {}, titles: {}, rows }
}

describe('compareBaseline', () => {
  test('compares requests per second and the ratio to a reference', () => {
    const now = reportOf({ floor: [1000], 'serve-dist': [900] })
    const before = reportOf({ floor: [2000], 'serve-dist': [1000] })
    const comparison = compareBaseline(now, before).find(({ row: { server } }) => server === 'serve-dist')
    expect(comparison?.change).toBeCloseTo(-0.1)
    expect(comparison?.isNoise).toBe(false)
    expect(comparison?.ratioChanges).toEqual([{ reference: 'floor', factor: 1.8, isNoise: false }])
  })

  test('leaves out servers that one run did not measure', () => {
    expect(compareBaseline(reportOf({ sirv: [1] }), reportOf({ 'serve-dist': [1] }))).toEqual([])
  })
})

describe('findFailures', () => {
  test('finds a ratio of ours that fell', () => {
    const now = reportOf({ floor: [1000], 'serve-dist-native': [700], sirv: [700] })
    const before = reportOf({ floor: [1000], 'serve-dist-native': [1000], sirv: [1000] })
    expect(findFailures(now, compareBaseline(now, before))).toContain(
      'bundles50k, serve-dist-native: the ratio to floor is 0.70 of what it was',
    )
  })

  test('ignores a fall that the spread between rounds hides', () => {
    const now = reportOf({ floor: [1000, 1000], 'serve-dist': [400, 1000] })
    const before = reportOf({ floor: [1000, 1000], 'serve-dist': [1000, 1000] })
    expect(findFailures(now, compareBaseline(now, before))).toEqual([])
  })

  test('finds void rows', () => {
    expect(findFailures(reportOf({ 'serve-dist': [950], sirv: [] }), [])).toEqual([
      'bundles50k, sirv: void, why',
    ])
  })
})
