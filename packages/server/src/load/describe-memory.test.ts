import { describe, expect, test } from 'vitest'
import { describeMemory } from './describe-memory.ts'

const megabytes = 1_000_000

describe('describeMemory', () => {
  test('says that bodies do not fit beside what the process has', () => {
    expect(describeMemory(41 * megabytes, { limit: 100 * megabytes, used: 60 * megabytes })).toBe(
      'this process may have 100.0 MB of memory, uses 60.0 MB, and the bodies of this build take 41.0 MB more: the system may kill it; lower --memory-budget (memoryBudget), or raise the limit of the container',
    )
  })

  test.each([
    ['bodies have room', { limit: 100, used: 60, bytes: 40 }],
    ['nobody says how much there is', { limit: 0, used: 60, bytes: 40 }],
    ['there is no limit', { limit: 18_446_744_073_709, used: 60, bytes: 40 }],
    ['no body is held', { limit: 50, used: 60, bytes: 0 }],
  ])('says nothing where %s', (_what, { limit, used, bytes }) => {
    const memory = { limit: limit * megabytes, used: used * megabytes }
    expect(describeMemory(bytes * megabytes, memory)).toBeUndefined()
  })
})
