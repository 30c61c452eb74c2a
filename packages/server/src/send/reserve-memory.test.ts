import { describe, expect, test } from 'vitest'
import { reserveMemory } from './reserve-memory.ts'

const wanted = 48 * 1024

describe('reserveMemory', () => {
  test('grants the wanted amount to hundreds of answers, and 72 MiB in total to ten thousand', () => {
    const shares = Array.from({ length: 10_000 }, () => reserveMemory(wanted))
    expect(shares.slice(0, 600).every(({ bytes }) => bytes === wanted)).toBe(true)
    expect(shares.at(-1)?.bytes).toBe(4096)
    const sum = shares.reduce((total, { bytes }) => total + bytes, 0)
    expect(sum).toBeLessThan(72 * 1024 * 1024)
    for (const { release } of [...shares, ...shares]) release()
    const again = reserveMemory(wanted)
    expect(again.bytes).toBe(wanted)
    again.release()
  })

  test('grants no more than the wanted amount', () => {
    const share = reserveMemory(10)
    expect(share.bytes).toBe(10)
    share.release()
  })
})
