import { describe, expect, test } from 'vitest'
import { drawsProgress } from './compress-folders.ts'

describe('drawsProgress', () => {
  test.each([
    [{}, true],
    [{ logLevel: 'info', clearScreen: true }, true],
    [{ logLevel: 'warn' }, false],
    [{ logLevel: 'silent' }, false],
    [{ clearScreen: false }, false],
  ] as const)('with %j: %s', (config, expected) => {
    expect(drawsProgress(config)).toBe(expected)
  })
})
