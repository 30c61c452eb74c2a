import { describe, expect, test } from 'vitest'
import type { Row } from '../serve/report/report.ts'
import { reportOf, voidRow } from '../serve/report/report-of.ts'
import { isAbout, isDecided, judge } from './judge.ts'
import type { Target } from './targets.ts'

const workload = 'bundles50k'
const perSecond: Target = {
  title: 'pages',
  workloads: [workload],
  server: 'native',
  beside: 'node',
  quantity: 'requestsPerSecond',
  kind: 'at least',
  mark: 0.95,
}

describe('judge', () => {
  test('compares both in each round, and the server with itself', () => {
    const { rows } = reportOf({ native: [190, 95], node: [200, 100], 'native-again': [190, 190] })
    expect(judge(rows, perSecond, workload)).toEqual({
      values: [0.95, 0.95],
      shares: [1, 1],
      resolution: 1,
      voids: [],
    })
  })

  test('leaves rounds out in which one had no turn', () => {
    const { rows } = reportOf({ native: [100, 100, 100], node: [100], 'native-again': 100 })
    expect(judge(rows, perSecond, workload).values).toEqual([1])
  })

  test('says in the own words of a server why there is nothing', () => {
    const { rows } = reportOf({ node: 100 })
    expect(judge([...rows, voidRow('native')], perSecond, workload)).toMatchObject({
      values: [],
      voids: ['native: why'],
    })
  })

  test('tells no latency from its mark where the load was as late', () => {
    const { rows } = reportOf({ native: [1, 1, 1] })
    const alone: Target = {
      title: 'p99',
      workloads: [workload],
      server: 'native',
      quantity: 'p99Milliseconds',
      kind: 'at most',
      mark: 4,
    }
    const late = rows.map((row): Row => {
      const samples = row.samples.map((sample) => Object.assign({}, sample, { lateMilliseconds: 3 }))
      return Object.assign({}, row, { samples })
    })
    expect(judge(rows, alone, workload)).toMatchObject({ shares: [0.5, 0.5, 0.5], resolution: 0 })
    expect(judge(late, alone, workload).resolution).toBe(0.75)
  })
})

describe('isAbout', () => {
  test('names both servers of a ratio, and the second turn of the first', () => {
    const names = ['native', 'node', 'native-again', 'nginx']
    expect(names.filter((name) => isAbout(perSecond, name))).toEqual(['native', 'node', 'native-again'])
  })

  test('names the server alone where it is beside nothing', () => {
    const { beside: _, ...alone } = perSecond
    expect(['native', 'node', 'native-again'].filter((name) => isAbout(alone, name))).toEqual(['native'])
  })
})

function ten(rate: number): readonly number[] {
  return Array.from({ length: 10 }, () => rate)
}

describe('isDecided', () => {
  test('is true of what lies far from the mark after ten rounds, though another target goes on', () => {
    const { rows } = reportOf({ native: ten(200), node: ten(100), nginx: ten(190), 'native-again': ten(200) })
    expect(isDecided(rows, perSecond, workload)).toBe(true)
    expect(isDecided(rows, { ...perSecond, beside: 'nginx' }, workload)).toBe(false)
  })

  test('is true where a server has no numbers', () => {
    expect(isDecided([...reportOf({ native: 100 }).rows, voidRow('node')], perSecond, workload)).toBe(true)
  })
})
