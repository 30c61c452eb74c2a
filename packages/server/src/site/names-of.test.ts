import { describe, expect, test } from 'vitest'
import { namesOf, redirectedNameOf } from './names-of.ts'

describe('namesOf', () => {
  test.each([
    ['assets/a.js', ['assets/a.js']],
    ['index.html', ['index.html', '']],
    ['about.html', ['about.html', 'about']],
    ['guide/index.html', ['guide/index.html', 'guide/']],
    ['guide/install.html', ['guide/install.html', 'guide/install']],
    ['myindex.html', ['myindex.html', 'myindex']],
  ])('of %s are %j', (path, names) => {
    expect(namesOf(path)).toEqual(names)
  })
})

describe('redirectedNameOf', () => {
  test.each([
    ['assets/a.js', undefined],
    ['index.html', undefined],
    ['about.html', 'about/'],
    ['guide/index.html', 'guide'],
  ])('of %s is %s', (path, name) => {
    expect(redirectedNameOf(path)).toBe(name)
  })
})
