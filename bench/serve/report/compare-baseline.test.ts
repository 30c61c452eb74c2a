import { describe, expect, test } from 'vitest'
import { compareBaseline, findFailures } from './compare-baseline.ts'
import { reportOf, voidRow } from './report-of.ts'

describe('compareBaseline', () => {
  test('tells the change in requests per second and in the ratio to a reference', () => {
    const now = reportOf({ floor: 1000, 'serve-dist': 900 })
    const before = reportOf({ floor: 2000, 'serve-dist': 1000 })
    const comparison = compareBaseline(now, before).find(({ row: { server } }) => server === 'serve-dist')
    expect(comparison?.change).toBeCloseTo(-0.1)
    expect(comparison?.isNoise).toBe(false)
    expect(comparison?.ratioChanges).toEqual([{ reference: 'floor', factor: 1.8, isNoise: false }])
  })

  test('leaves out what was not measured before', () => {
    expect(compareBaseline(reportOf({ sirv: 1 }), reportOf({ 'serve-dist': 1 }))).toEqual([])
  })
})

describe('findFailures', () => {
  test('finds a ratio of ours that fell, with either engine', () => {
    const now = reportOf({ floor: 1000, 'serve-dist-native': 700, sirv: 700 })
    const before = reportOf({ floor: 1000, 'serve-dist-native': 1000, sirv: 1000 })
    expect(findFailures(now, compareBaseline(now, before))).toContain(
      'bundles50k, serve-dist-native: the ratio to floor is 0.70 of what it was',
    )
  })

  test('lets a fall pass that the spread between rounds hides', () => {
    const now = reportOf({ floor: [1000, 1000], 'serve-dist': [400, 1000] })
    const before = reportOf({ floor: [1000, 1000], 'serve-dist': [1000, 1000] })
    expect(findFailures(now, compareBaseline(now, before))).toEqual([])
  })

  test('finds void rows, and nothing else in a run like the one before', () => {
    const now = reportOf({ floor: 1000, 'serve-dist': 950 })
    const withVoid = { ...now, rows: [...now.rows, voidRow('sirv')] }
    expect(findFailures(now, compareBaseline(now, now))).toEqual([])
    expect(findFailures(withVoid, [])).toEqual(['bundles50k, sirv: void, why'])
  })
})
