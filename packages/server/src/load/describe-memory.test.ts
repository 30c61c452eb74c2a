import { describe, expect, test } from 'vitest'
import { describeMemory, spareMemory } from './describe-memory.ts'

const megabytes = 1_000_000

describe('describeMemory', () => {
  test('warns if the bodies exceed the free memory', () => {
    expect(describeMemory(41 * megabytes, { limit: 100 * megabytes, used: 60 * megabytes })).toBe(
      'this process can use 100.0 MB of memory and uses 60.0 MB, but the bodies of this build need 41.0 MB more. The system may kill the process. Lower --memory-budget (memoryBudget), or raise the limit of the container.',
    )
  })

  test.each([
    ['the bodies fit', { limit: 100, used: 60, bytes: 40 }],
    ['the limit is unknown', { limit: 0, used: 60, bytes: 40 }],
    ['there is no limit', { limit: 18_446_744_073_709, used: 60, bytes: 40 }],
    ['there are no bodies', { limit: 50, used: 60, bytes: 0 }],
  ])('returns no warning if %s', (_what, { limit, used, bytes }) => {
    const memory = { limit: limit * megabytes, used: used * megabytes }
    expect(describeMemory(bytes * megabytes, memory)).toBeUndefined()
  })
})

test('half of the rest of a container is spare', () => {
  expect(spareMemory({ limit: 100, used: 60 })).toBe(20)
  expect(spareMemory({ limit: 50, used: 60 })).toBe(0)
  expect(spareMemory({ limit: 0, used: 60 })).toBe(Number.POSITIVE_INFINITY)
})
