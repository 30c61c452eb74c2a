import { describe, expect, test } from 'vitest'
import { nearestName } from './nearest-name.ts'

describe('nearestName', () => {
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
    expect(nearestName(wanted, names)).toBe(name)
  })

  test.each(['cert', 'ssl', 'base', 'outDir', 'x', ''])('finds nothing for %j', (wanted) => {
    expect(nearestName(wanted, names)).toBeUndefined()
  })

  test('takes the first of equals', () => {
    expect(nearestName('xbcd', ['abcd', 'bbcd'])).toBe('abcd')
  })

  test('knows no name among none', () => {
    expect(nearestName('port', [])).toBeUndefined()
  })
})
