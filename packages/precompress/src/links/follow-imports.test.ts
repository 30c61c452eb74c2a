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
  test('returns each chunk once in execution order, even if chunks import each other', () => {
    expect(followImports(['entry.js'], graph)).toEqual({
      modules: ['shared.js', 'a.js', 'b.js', 'entry.js'],
      styles: ['shared.css', 'a.css', 'entry.css'],
    })
  })

  test('returns nothing for a file that is not a chunk', () => {
    expect(followImports(['public.js'], graph)).toEqual({ modules: [], styles: [] })
  })
})
