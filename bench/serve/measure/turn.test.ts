import { describe, expect, test } from 'vitest'
import type { ContentCoding } from '@serve-dist/manifest'
import { groupBySite, type Turn } from './turn.ts'

const turnOf = (name: string, directory: string, accept: readonly ContentCoding[]): Turn => ({
  workload: { name, title: name, prepare: () => Promise.reject(new Error('prepared already')) },
  prepared: {
    directory,
    requests: [{ target: '/a.js', file: 'a.js', method: 'GET', accept }],
    sequence: [0],
    newConnections: false,
  },
  servers: new Map(),
})

describe('groupBySite', () => {
  test('puts together what the same processes can answer', () => {
    const turns = [
      turnOf('one', 'site', ['br']),
      turnOf('two', 'other', ['br']),
      turnOf('three', 'site', ['br']),
      turnOf('four', 'site', ['gzip']),
    ]
    const names = groupBySite(turns).map((group) => group.map(({ workload }) => workload.name))
    expect(names).toEqual([['one', 'three'], ['two'], ['four']])
  })
})
