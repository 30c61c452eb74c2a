import { describe, expect, test } from 'vitest'
import { collectOverrides, extendVary, overrideFields } from './field-list.ts'

const defaults = ['Content-Type', 'text/html', 'Vary', 'Accept-Encoding', 'Cache-Control', 'no-cache']

describe('overrideFields', () => {
  test('replaces a default at its position without duplicating it, regardless of letter case', () => {
    const overrides = collectOverrides([{ 'cache-CONTROL': 'max-age=60' }])
    expect(overrideFields(defaults, overrides)).toEqual([
      'Content-Type',
      'text/html',
      'Vary',
      'Accept-Encoding',
      'cache-CONTROL',
      'max-age=60',
    ])
  })

  test('removes a default with null and adds new fields', () => {
    const overrides = collectOverrides([{ 'Cache-Control': null, 'X-One': '1', 'X-None': null }])
    expect(overrideFields(defaults, overrides)).toEqual([
      'Content-Type',
      'text/html',
      'Vary',
      'Accept-Encoding',
      'X-One',
      '1',
    ])
  })

  test('extends Vary and never removes it', () => {
    expect(overrideFields(['Vary', 'Accept-Encoding'], collectOverrides([{ vary: 'Origin' }]))).toEqual([
      'Vary',
      'Origin, Accept-Encoding',
    ])
    expect(overrideFields(['Vary', 'Accept-Encoding'], collectOverrides([{ vary: null }]))).toEqual([
      'Vary',
      'Accept-Encoding',
    ])
  })

  test('prefers later sets', () => {
    const overrides = collectOverrides([{ 'X-A': '1', 'X-B': '1' }, { 'x-a': '2' }])
    expect(overrideFields([], overrides)).toEqual(['x-a', '2', 'X-B', '1'])
  })
})

describe('extendVary', () => {
  test('extends a list without duplicates', () => {
    expect(extendVary('accept, Origin', 'Accept-Encoding, Accept, Sec-Fetch-Mode')).toBe(
      'accept, Origin, Accept-Encoding, Sec-Fetch-Mode',
    )
    expect(extendVary('*', 'Accept-Encoding, Accept')).toBe('*')
  })

  test.each([
    ['', 'Accept-Encoding'],
    ['Origin', 'Origin, Accept-Encoding'],
    ['origin,,  Accept', 'origin, Accept, Accept-Encoding'],
    ['accept-encoding', 'accept-encoding'],
    ['*', '*'],
  ])('extends %j to %j', (existing, extended) => {
    expect(extendVary(existing, 'Accept-Encoding')).toBe(extended)
  })
})
