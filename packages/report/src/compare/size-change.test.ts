import { describe, expect, test } from 'vitest'
import { parseNoise } from './size-change.ts'

describe('parseNoise', () => {
  test.each([
    ['0.5%,128b', { percent: 0.5, bytes: 128 }],
    ['128 , 0.5 %', { percent: 0.5, bytes: 128 }],
    ['1%', { percent: 1, bytes: 64 }],
    ['0', { percent: 0.1, bytes: 0 }],
  ])('reads %s', (text, noise) => {
    expect(parseNoise(text)).toEqual(noise)
  })

  test.each(['', 'some', '-1%', '1xb', '1%,,2'])('refuses "%s" and says how it is written', (text) => {
    expect(() => parseNoise(text)).toThrow('write for example 0.1%,64b')
  })
})
