import { describe, expect, test } from 'vitest'
import { placeBetween } from './place-between.ts'

const document = 'before\n<!-- measured: servers -->\nprevious\n<!-- end of servers -->\nafter\n'

describe('placeBetween', () => {
  test('replaces what stands between the marks, and nothing else', () => {
    const placed = placeBetween(document, 'servers', 'text')
    expect(placed).toBe('before\n<!-- measured: servers -->\n\ntext\n\n<!-- end of servers -->\nafter\n')
    expect(placeBetween(placed, 'servers', 'text')).toBe(placed)
  })

  test('refuses a document without a place for it', () => {
    expect(() => placeBetween('nothing', 'servers', 'text')).toThrow('<!-- measured: servers -->')
  })
})
