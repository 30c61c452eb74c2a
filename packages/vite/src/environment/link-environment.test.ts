import { describe, expect, test } from 'vitest'
import { linkEnvironment } from './link-environment.ts'

const link = '<link rel="modulepreload" crossorigin href="/a&amp;b.js" />'

describe('linkEnvironment', () => {
  test.each([
    ['<head><script src=/x.js></script>|<script type=module src=/a.js>', 'the first module script'],
    [`<head>|<link rel='modulepreload' href=/a.js><script type="module">`, 'the first preload of a module'],
    ['<head><!-- <script type="module"> -->|<script type="module">', 'a script that is not in a comment'],
    ['<head><title>t</title>|</HEAD><body>', 'the end of the head if no element loads a module'],
  ])('inserts the link into %s: before %s', (page) => {
    const [before, after] = page.split('|')
    expect(linkEnvironment(page.replace('|', ''), '/a&b.js')).toBe(`${before}${link}\n${after}`)
  })

  test('does not change a page without a place for the link', () => {
    expect(linkEnvironment('<p>a fragment', '/a.js')).toBe('<p>a fragment')
  })
})
