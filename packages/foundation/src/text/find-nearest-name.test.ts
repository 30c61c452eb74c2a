import { describe, expect, test } from 'vitest'
import { findNearestName } from './find-nearest-name.ts'

describe('findNearestName', () => {
  const names = ['headers', 'redirects', 'prefer', 'cacheControl', 'port', 'ssr', 'cors', 'minimumSize']
  test.each([
    ['header', 'headers'],
    ['Redirect', 'redirects'],
    ['hedaers', 'headers'],
    ['cachecontrol', 'cacheControl'],
    ['perfer', 'prefer'],
    ['prot', 'port'],
    ['minimunSiz', 'minimumSize'],
  ])('finds the nearest name of %s: %s', (wanted, name) => {
    expect(findNearestName(wanted, names)).toBe(name)
  })

  test.each(['cert', 'ssl', 'base', 'outDir', 'x', ''])('finds no name for %j', (wanted) => {
    expect(findNearestName(wanted, names)).toBeUndefined()
  })

  test('returns the first of equally near names', () => {
    expect(findNearestName('xbcd', ['abcd', 'bbcd'])).toBe('abcd')
  })

  test('finds nothing in an empty list', () => {
    expect(findNearestName('port', [])).toBeUndefined()
  })
})
