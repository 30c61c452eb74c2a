import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type ChunkGraph, graphWithin, needsOf } from './chunk-graph.ts'

describe('needsOf', () => {
  test('gives absolute paths', () => {
    const chunk = { imports: ['assets/a.js'], viteMetadata: { importedCss: new Set(['assets/a.css']) } }
    expect(needsOf(chunk, resolve('dist'))).toEqual({
      imports: [resolve('dist/assets/a.js')],
      styles: [resolve('dist/assets/a.css')],
    })
    expect(needsOf({}, resolve('dist'))).toEqual({ imports: [], styles: [] })
  })
})

describe('graphWithin', () => {
  test('leaves out what lies elsewhere, and names the rest from the folder', () => {
    const inside = resolve('dist/assets/a.js')
    const outside = resolve('other/b.js')
    const absolute: ChunkGraph = new Map([
      [inside, { imports: [outside, resolve('dist/c.js')], styles: [resolve('dist/a.css')] }],
      [outside, { imports: [], styles: [] }],
    ])
    expect([...graphWithin(absolute, resolve('dist'))]).toEqual([
      ['assets/a.js', { imports: ['c.js'], styles: ['a.css'] }],
    ])
  })
})
