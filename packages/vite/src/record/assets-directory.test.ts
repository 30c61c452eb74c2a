import { describe, expect, test } from 'vitest'
import { assetsDirectory } from './assets-directory.ts'

describe('assetsDirectory', () => {
  test.each([
    ['assets', 'assets'],
    ['', ''],
    ['.', ''],
    ['./', ''],
    ['./static//js/', 'static/js'],
    [String.raw`static\js`, 'static/js'],
    ['../up', ''],
    ['/assets', ''],
    ['a/../..', ''],
  ])('of %j is %j', (assetsDir, expected) => {
    expect(assetsDirectory(assetsDir)).toBe(expected)
  })
})
