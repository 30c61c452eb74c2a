import { describe, expect, test } from 'vitest'
import { describeMemory } from './describe-memory.ts'

const megabytes = 1_000_000

describe('describeMemory', () => {
  test.each([
    ['the budget is above the limit', { limit: 50, used: 10, budget: 64, bytes: 1 }],
    ['the bodies do not fit beside what the process has', { limit: 100, used: 60, budget: 64, bytes: 41 }],
  ])('says that %s', (_what, { limit, used, budget, bytes }) => {
    expect(
      describeMemory(
        { memoryBudget: budget * megabytes, bytesToHold: bytes * megabytes },
        { limit: limit * megabytes, used: used * megabytes },
      ),
    ).toBe(
      `this process may have ${limit}.0 MB of memory, uses ${used}.0 MB, and bodies may take 64.0 MB more: the system may kill it; lower --memory-budget (memoryBudget), or raise the limit of the container`,
    )
  })

  test.each([
    ['bodies have room', { limit: 100, used: 60, bytes: 40 }],
    ['nobody says how much there is', { limit: 0, used: 60, bytes: 40 }],
    ['there is no limit', { limit: 18_446_744_073_709, used: 60, bytes: 40 }],
    ['no body is held', { limit: 50, used: 60, bytes: 0 }],
  ])('says nothing where %s', (_what, { limit, used, bytes }) => {
    const described = describeMemory(
      { memoryBudget: 64 * megabytes, bytesToHold: bytes * megabytes },
      { limit: limit * megabytes, used: used * megabytes },
    )
    expect(described).toBeUndefined()
  })
})
