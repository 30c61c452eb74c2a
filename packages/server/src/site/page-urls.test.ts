import { describe, expect, test } from 'vitest'
import { pageUrls, redirectedPageUrl } from './page-urls.ts'

describe('pageUrls', () => {
  test.each([
    ['assets/a.js', ['assets/a.js']],
    ['index.html', ['index.html', '']],
    ['about.html', ['about.html', 'about']],
    ['guide/index.html', ['guide/index.html', 'guide/']],
    ['guide/install.html', ['guide/install.html', 'guide/install']],
    ['myindex.html', ['myindex.html', 'myindex']],
  ])('maps %s to %j', (path, names) => {
    expect(pageUrls(path)).toEqual(names)
  })
})

describe('redirectedPageUrl', () => {
  test.each([
    ['assets/a.js', undefined],
    ['index.html', undefined],
    ['about.html', 'about/'],
    ['guide/index.html', 'guide'],
  ])('maps %s to %s', (path, name) => {
    expect(redirectedPageUrl(path)).toBe(name)
  })
})
