import { describe, expect, test } from 'vitest'
import { groupCaseCollisions } from './group-case-collisions.ts'

describe('groupCaseCollisions', () => {
  test.each([
    [['a.js', 'b.js', 'a.css'], []],
    [['App.js', 'app.js', 'x/App.js'], [['App.js', 'app.js']]],
    [['É.js', 'e\u0301.js'], [['É.js', 'e\u0301.js']]],
    [['A/b.js', 'a/B.js', 'a/b.js'], [['A/b.js', 'a/B.js', 'a/b.js']]],
  ])('returns for %j the groups %j', (paths, twins) => {
    expect(groupCaseCollisions(paths)).toEqual(twins)
  })
})
