import { describe, expect, test } from 'vitest'
import { createColors } from './create-colors.ts'

describe('createColors', () => {
  test('styles where it may, wherever this process writes to', () => {
    expect(createColors(true).bold('text')).toBe('\u001B[1mtext\u001B[22m')
  })

  test('leaves texts as they are where it may not', () => {
    expect(createColors(false).red('text')).toBe('text')
  })
})
