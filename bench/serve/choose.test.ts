import { describe, expect, test } from 'vitest'
import { choose } from './choose.ts'

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

  test('names what there is, and what is nearest, when nothing has the name', () => {
    expect(() => choose(items, ['bun-rotes'])).toThrow(
      '"bun-rotes" is none of serve-dist, serve-dist-smallest, bun-routes, bun-directory; did you mean "bun-routes"?',
    )
  })
})
