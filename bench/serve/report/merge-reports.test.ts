import { describe, expect, test } from 'vitest'
import { mergeReports } from './merge-reports.ts'
import { reportOf } from './testing/report-of.ts'

const all = { servers: [], workloads: [], connections: [] }
const one = reportOf({ floor: 1, 'serve-dist': 1, sirv: 1 })
const rowsAt = (connections: number, server = 'floor') =>
  reportOf({ [server]: 2 }).rows.map((row) => Object.assign({}, row, { connections }))

describe('mergeReports', () => {
  test('takes a load from the last report that has it, whole', () => {
    const merged = mergeReports([one, { ...one, rows: [...rowsAt(64), ...rowsAt(10)] }], all)
    expect(merged.rows.map(({ server, connections }) => [server, connections])).toEqual([
      ['floor', 64],
      ['floor', 10],
    ])
  })

  test('names the commands of all', () => {
    const other = { ...one, command: 'another', rows: rowsAt(10) }
    expect(mergeReports([one, other], all).command).toBe('pnpm bench:serve; another')
  })

  test('leaves out what is not wanted', () => {
    const { rows } = mergeReports([one], { ...all, servers: ['sirv'] })
    expect(rows.map(({ server }) => server)).toEqual(['sirv'])
  })

  test('refuses to mix what was measured on several versions of Node', () => {
    const other = { ...one, machine: { ...one.machine, node: '26.0.0' } }
    expect(() => mergeReports([one, other], all)).toThrow(/Node\.js 26\.0\.0.*read them one by one/)
  })

  test('refuses to make a report of nothing', () => {
    expect(() => mergeReports([one], { ...all, workloads: ['zipf'] })).toThrow('no row has')
  })
})
