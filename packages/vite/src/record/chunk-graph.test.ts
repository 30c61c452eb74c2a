import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type ChunkGraph, followImports, graphWithin, needsOf } from './chunk-graph.ts'

const graph: ChunkGraph = new Map([
  ['entry.js', { imports: ['a.js', 'b.js', 'external'], styles: ['entry.css'] }],
  ['a.js', { imports: ['shared.js'], styles: ['a.css'] }],
  ['b.js', { imports: ['shared.js', 'entry.js'], styles: [] }],
  ['shared.js', { imports: [], styles: ['shared.css'] }],
  ['lazy.js', { imports: ['shared.js'], styles: ['lazy.css'] }],
])

describe('followImports', () => {
  test('gives what runs in the order in which it runs, once, though chunks import each other', () => {
    expect(followImports(['entry.js'], graph)).toEqual({
      modules: ['shared.js', 'a.js', 'b.js', 'entry.js'],
      styles: ['shared.css', 'a.css', 'entry.css'],
    })
  })

  test('knows nothing of what is no chunk', () => {
    expect(followImports(['public.js'], graph)).toEqual({ modules: [], styles: [] })
  })
})

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
