import { describe, expect, test } from 'vitest'
import { fontsOfStyle } from './fonts-of-style.ts'

describe('fontsOfStyle', () => {
  test.each([
    ['@font-face{font-family:A;src:url(/a.woff2) format("woff2"),url(/a.woff)}', ['/a.woff2']],
    [`@font-face { src: local('A'), url( "../a b.woff2" ) }`, ['../a b.woff2']],
    [`@FONT-FACE{src:URL('a(1).woff2')}`, ['a(1).woff2']],
    ['@font-face{src:url(a.woff2)}@font-face{src:url(b.woff2)}', ['a.woff2', 'b.woff2']],
    ['@font-face{src:url(a.woff2);unicode-range:U+0000-00FF,U+0131}', ['a.woff2']],
    ['@font-face{src:url(a.woff2);unicode-range:U+??}', ['a.woff2']],
    ['@font-face{src:url(a.woff2);unicode-range:u+26, u+41}', ['a.woff2']],
    ['@font-face{src:url(a.woff2)', ['a.woff2']],
  ])('finds in %s the fonts %j', (css, expected) => {
    expect(fontsOfStyle(css)).toEqual(expected)
  })

  test.each([
    '@font-face{src:url(a.woff)}',
    '@font-face{src:url(data:font/woff2;base64,AAAA)}',
    '@font-face{src:url(a.woff2);unicode-range:U+0400-045F}',
    '@font-face{src:url(a.woff2);unicode-range:U+4??}',
    '@font-face{src:url(a.woff2);unicode-range:nonsense}',
    '.a{background:url(a.woff2)}',
    '',
  ])('finds no fonts in %s', (css) => {
    expect(fontsOfStyle(css)).toEqual([])
  })

  test.each([
    ['blocks without an end', (size: number) => '@font-face{src:url("'.repeat(size)],
    ['a name without an end', (size: number) => `@font-face{src:url(${'a'.repeat(20 * size)}`],
  ])('takes linear time for hostile text: %s', (_what, textOf) => {
    // With quadratic time, this test would time out.
    expect(fontsOfStyle(textOf(1_000_000))).toEqual([])
  })
})
