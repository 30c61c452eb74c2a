import { expect, test } from 'vitest'
import type { Row, Sample } from '../serve/report/report.ts'
import { isDecided, secondTurnSuffix } from './evaluate-target.ts'
import { targets } from './targets.ts'

const sample: Sample = {
  requestsPerSecond: 1,
  p50Milliseconds: 1,
  p99Milliseconds: 1,
  lateMilliseconds: 0,
  wireBytesPerRequest: 1,
  cpuMicrosecondsPerRequest: 1,
  cpuShare: 1,
  bootMilliseconds: 1,
  foreignCpuShare: 0,
  heldBytes: 1,
}

function rowsOf(rounds: number, ...names: readonly string[]): readonly Row[] {
  const others = { version: '1', workload: 'answer-14k', connections: 1, codings: [], remarks: [] }
  const samples = Array.from({ length: rounds }, () => sample)
  return names.map((server) => Object.assign({ server, samples, void: undefined }, others))
}

test('a target is decided after the first round if its peer is not measured', () => {
  const target = targets.find(({ beside, workloads }) => {
    return beside === 'nginx-newest' && workloads.includes('answer-14k')
  })
  if (target === undefined) throw new TypeError('there is no such target')
  const own = [target.server, target.server + secondTurnSuffix]
  expect(isDecided([], target, 'answer-14k')).toBe(false)
  expect(isDecided(rowsOf(1, ...own, 'nginx'), target, 'answer-14k')).toBe(true)
  expect(isDecided(rowsOf(1, ...own, 'nginx-newest'), target, 'answer-14k')).toBe(false)
  expect(isDecided(rowsOf(10, ...own, 'nginx-newest'), target, 'answer-14k')).toBe(true)
})
