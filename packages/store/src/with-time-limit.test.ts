import { describe, expect, test } from 'vitest'
import { timeLimitFor, withTimeLimit } from './with-time-limit.ts'

const step = { place: 's3://bucket', verb: 'read', key: 'current.json' } as const
const failing = async (): Promise<never> => await Promise.reject(new Error('why'))
const never = async (): Promise<never> => await new Promise(() => {})

test('the time limit of a very large file fits into a timer', () => {
  expect(timeLimitFor(2 ** 40)).toBe(2 ** 31 - 1)
  expect(timeLimitFor(1600)).toBe(60_100)
})

describe('withTimeLimit', () => {
  test('returns the result of the work and forwards its error', async () => {
    expect(await withTimeLimit(step, { milliseconds: 1000 }, async () => 'done')).toBe('done')
    await expect(withTimeLimit(step, { milliseconds: 1000 }, failing)).rejects.toThrow('why')
  })

  test('stops slow work and aborts its signal', async () => {
    let told: AbortSignal | undefined
    const work = async (signal: AbortSignal): Promise<never> => {
      told = signal
      return await never()
    }
    await expect(withTimeLimit(step, { milliseconds: 20 }, work)).rejects.toMatchObject({
      code: 'SD_STORE_UNAVAILABLE',
      message: 's3://bucket: cannot read current.json (no result within 0 seconds)',
    })
    expect(told?.aborted).toBe(true)
  })

  test('stops when its signal aborts', async () => {
    const signal = AbortSignal.timeout(20)
    const thrown = await withTimeLimit(step, { milliseconds: 1000, signal }, never).catch(
      (error: unknown) => error,
    )
    expect(thrown).toBe(signal.reason)
    await expect(withTimeLimit(step, { milliseconds: 1000, signal }, never)).rejects.toBe(signal.reason)
  })
})
