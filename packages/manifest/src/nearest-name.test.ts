import { describe, expect, test } from 'vitest'
import { nearestName } from './nearest-name.ts'

describe('nearestName', () => {
  const names = ['headers', 'redirects', 'prefer', 'cacheControl']
  test.each([
    ['header', 'headers', 1],
    ['Redirect', 'redirects', 1],
    ['hedaers', 'headers', 2],
    ['cachecontrol', 'cacheControl', 0],
    ['perfer', 'prefer', 2],
  ])('finds for %s: %s', (wanted, name, changes) => {
    expect(nearestName(wanted, names)).toEqual({ name, changes })
  })

  test('takes the first of equals', () => {
    expect(nearestName('xx', ['aa', 'bb']).name).toBe('aa')
  })
})
