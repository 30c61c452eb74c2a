import { describe, expect, test } from 'vitest'
import { type ChunkGraph, followImports } from './follow-imports.ts'

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
