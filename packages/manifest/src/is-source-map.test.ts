import { describe, expect, test } from 'vitest'
import { isSourceMap } from './is-source-map.ts'

describe('isSourceMap', () => {
  test.each([
    ['assets/app-1.js.map', true],
    ['sw.mjs.map', true],
    ['a.cjs.map', true],
    ['assets/style.css.map', true],
    ['codec.wasm.map', true],
    ['assets/APP.JS.MAP', true],
    ['level-1.map', false],
    ['map', false],
    ['app.js.map.txt', false],
    ['app.js.map/index.html', false],
  ])('of %s is %s', (path, expected) => {
    expect(isSourceMap(path)).toBe(expected)
  })
})
