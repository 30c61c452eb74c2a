import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { assetsDirectory, outermostFolders } from './output-folders.ts'

describe('outermostFolders', () => {
  test.each([
    [['dist'], ['dist']],
    [['dist', 'dist'], ['dist']],
    [['dist/legacy', 'dist'], ['dist']],
    [
      ['dist/modern', 'dist/legacy'],
      ['dist/modern', 'dist/legacy'],
    ],
    [
      ['dist', 'dist-legacy', 'dist/a/b'],
      ['dist', 'dist-legacy'],
    ],
    [['dist', 'dist/..x'], ['dist']],
  ])('returns for %j the folders %j', (folders, expected) => {
    expect(outermostFolders(folders.map((folder) => resolve(folder)))).toEqual(
      expected.map((folder) => resolve(folder)),
    )
  })
})

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
  ])('returns for %j the folder %j', (assetsDir, expected) => {
    expect(assetsDirectory(assetsDir)).toBe(expected)
  })
})
