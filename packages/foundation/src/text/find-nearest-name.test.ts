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
  ])('finds for %s: %s', (wanted, name) => {
    expect(findNearestName(wanted, names)).toBe(name)
  })

  test.each(['cert', 'ssl', 'base', 'outDir', 'x', ''])('finds nothing for %j', (wanted) => {
    expect(findNearestName(wanted, names)).toBeUndefined()
  })

  test('takes the first of equals', () => {
    expect(findNearestName('xbcd', ['abcd', 'bbcd'])).toBe('abcd')
  })

  test('knows no name among none', () => {
    expect(findNearestName('port', [])).toBeUndefined()
  })
})
