import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isJson } from './is-json.ts'

const circle: Record<string, unknown> = {}
circle['one'] = circle['other'] = circle

test.each([
  [1n],
  [() => 1],
  [Symbol('x')],
  [new Date(0)],
  [new Map()],
  [[undefined]],
  [{ most: Infinity }],
  [NaN],
  [circle],
])('isJson rejects values that JSON changes: %#', (value) => {
  expect(isJson(value, 1000)).toBe(false)
})

test('isJson accepts values that JSON preserves', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => isJson(value, 1000)))
  expect(isJson({ a: [[]] }, 3)).toBe(true)
  expect(isJson({ a: [[]] }, 2)).toBe(false)
})
