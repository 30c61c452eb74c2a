import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchPath, parsePathPattern, type PathPattern } from './path-pattern.ts'
import { findPlaces, indexPatterns } from './pattern-index.ts'

const piece = fc.constantFrom('/', 'a', 'b', ':x', ':y', '*', '%41', '-')
const written = fc.array(piece, { maxLength: 6 }).map((parts) => `/${parts.join('')}`)
const path = fc.string({ unit: fc.constantFrom('/', 'a', 'b', 'A', '-') }).map((text) => `/${text}`)

/** `/old/*` also matches `/old`. */
function isAbout(pattern: PathPattern, asked: string): boolean {
  const isWhole = pattern.at(-2) === '*' && pattern.at(-1) === ''
  return [asked, ...(isWhole ? [`${asked}/`] : [])].some((each) => matchPath(pattern, each) !== undefined)
}

describe('findPlaces', () => {
  test('finds all patterns that match a path, in order', () => {
    fc.assert(
      fc.property(fc.array(written, { maxLength: 8 }), path, (texts, asked) => {
        const patterns = texts.map(parsePathPattern)
        const places = findPlaces(indexPatterns(patterns), asked)
        const matching = [...patterns.entries()].filter(([, pattern]) => isAbout(pattern, asked))
        expect(places).toEqual(expect.arrayContaining(matching.map(([place]) => place)))
        expect(places).toEqual([...new Set(places)].toSorted((one, other) => one - other))
      }),
    )
  })

  test('returns few candidates of many patterns', () => {
    const texts = Array.from({ length: 10_000 }, (_, index) => [
      `/old/${index}`,
      `/blog/${index}/*`,
      `/:lang/page-${index}`,
    ]).flat()
    const index = indexPatterns(texts.map(parsePathPattern))
    expect(findPlaces(index, '/none/of/these')).toEqual([])
    expect(findPlaces(index, '/blog/7')).toEqual([22])
    expect(findPlaces(index, '/de/page-7')).toEqual([23])
  })
})
