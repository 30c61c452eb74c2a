import { describe, expect, test } from 'vitest'
import { throttleRefresh } from './throttle-refresh.ts'

/** A manual clock, and refreshes that end on demand. */
function looks() {
  const ends: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = []
  const clock = { now: 0 }
  const ask = throttleRefresh(
    () => new Promise<void>((resolve, reject) => ends.push({ resolve, reject })),
    { interval: 1000, patience: 50 },
    () => clock.now,
  )
  return { ask, clock, ends }
}

describe('throttleRefresh', () => {
  test('makes one refresh for all concurrent callers', async () => {
    const { ask, ends } = looks()
    const answered: number[] = []
    const all = [1, 2, 3].map(async (number) => {
      await ask()
      answered.push(number)
    })
    expect(ends).toHaveLength(1)
    await Promise.resolve()
    expect(answered).toEqual([])
    ends[0]?.resolve()
    await Promise.all(all)
    expect(answered).toEqual([1, 2, 3])
  })

  test('makes no refresh within the interval and lets no caller wait', async () => {
    const { ask, clock, ends } = looks()
    const first = ask()
    ends[0]?.resolve()
    await first
    clock.now = 999
    await ask()
    expect(ends).toHaveLength(1)
    clock.now = 1000
    const second = ask()
    expect(ends).toHaveLength(2)
    ends[1]?.resolve()
    await second
  })

  test('lets callers wait no longer than their patience and starts no second refresh during the first', async () => {
    const { ask, clock, ends } = looks()
    await ask()
    clock.now = 5000
    await ask()
    expect(ends).toHaveLength(1)
    ends[0]?.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    const next = ask()
    expect(ends).toHaveLength(2)
    ends[1]?.resolve()
    await next
  })

  test('resolves after a failed refresh and refreshes again later', async () => {
    const { ask, clock, ends } = looks()
    const asked = ask()
    ends[0]?.reject(new Error('away'))
    await asked
    clock.now = 1000
    const next = ask()
    expect(ends).toHaveLength(2)
    ends[1]?.resolve()
    await next
  })
})
