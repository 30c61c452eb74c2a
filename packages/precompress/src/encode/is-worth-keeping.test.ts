import { describe, expect, test } from 'vitest'
import { isWorthKeeping } from './compress-file.ts'

describe('isWorthKeeping', () => {
  test.each([
    // `Content-Encoding: br` and `Vary: Accept-Encoding` have 45 bytes with their line ends.
    ['br', 200, 154, true],
    ['br', 200, 155, false],
    ['gzip', 200, 154, false],
    ['br', 10_000, 9_500, true],
    ['br', 10_000, 9_501, false],
    ['zstd', 1_000, 1_100, false],
    ['zstd', 0, 0, false],
  ] as const)('returns for %s, from %i to %i bytes: %s', (coding, originalSize, encodedSize, expected) => {
    expect(isWorthKeeping(coding, originalSize, encodedSize)).toBe(expected)
  })
})
