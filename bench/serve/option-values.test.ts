import { describe, expect, test } from 'vitest'
import { choose, namesOf } from './option-values.ts'

const items = ['serve-dist', 'serve-dist-smallest', 'bun-routes', 'bun-directory'].map((name) => ({
  name,
}))

describe('choose', () => {
  test.each([
    [[], ['serve-dist', 'serve-dist-smallest', 'bun-routes', 'bun-directory']],
    [['serve-dist'], ['serve-dist']],
    [['bun'], ['bun-routes', 'bun-directory']],
    [
      ['bun-directory', 'serve-dist'],
      ['serve-dist', 'bun-directory'],
    ],
  ])('%j takes %j', (names, expected) => {
    expect(choose(items, names).map(({ name }) => name)).toEqual(expected)
  })
})

describe('namesOf', () => {
  test('takes names and beginnings of names', () => {
    expect(namesOf(items)('bun,serve-dist')).toEqual(['bun', 'serve-dist'])
  })

  test('names what there is when nothing has the name', () => {
    expect(() => namesOf(items)('bun-rotes')).toThrow(
      '"bun-rotes" is none of serve-dist, serve-dist-smallest, bun-routes, bun-directory',
    )
  })
})
