import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { elementsOfPage } from './elements-of-page.ts'
import { readPage } from './read-page.ts'

function urlsOf(html: string): string[] {
  return readPage(elementsOfPage(html)).references.map(({ kind, url }) => `${kind} ${url}`)
}

describe('readPage', () => {
  test.each([
    ['<script type="module" crossorigin src="/a.js"></script>', 'module /a.js'],
    ["<SCRIPT SRC='/a.js' TYPE='Module'></SCRIPT>", 'module /a.js'],
    ['<script async src=/a.js type=module></script>', 'module /a.js'],
    ['<script\n  src="/a.js?x&amp;y"\n  type="module"\n></script>', 'module /a.js?x&y'],
    ['<link rel="modulepreload" crossorigin href="/b.js">', 'module /b.js'],
    ['<link href="/c.css" rel=stylesheet>', 'style /c.css'],
    ['<link href="/c.css" rel="stylesheet" media="all"/>', 'style /c.css'],
    ['<link rel="preload" as="style" href="/c.css">', 'style /c.css'],
    ['<link rel="preload" as="font" crossorigin href="/d.woff2">', 'font /d.woff2'],
  ])('finds the reference in %s', (html, expected) => {
    expect(urlsOf(html)).toEqual([expected])
  })

  test.each([
    '<script src="/classic.js"></script>',
    '<script nomodule crossorigin src="/legacy.js"></script>',
    '<script type="module">import "/inline.js"</script>',
    '<script type="module" src=""></script>',
    '<link rel="icon" href="/icon.svg">',
    '<link rel="preload" as="image" href="/i.png">',
    '<link rel="stylesheet">',
    '<link rel="alternate stylesheet" href="/c.css">',
    '<link rel="stylesheet" media="print" href="/c.css">',
    '<link rel="stylesheet" disabled href="/c.css">',
    '<!-- <script type="module" src="/a.js"></script> -->',
    '<noscript><link rel="stylesheet" href="/c.css"></noscript>',
    '<template><script type="module" src="/a.js"></script></template>',
    `<script>const text = '<link rel="stylesheet" href="/c.css">'</script>`,
    '<style>/* <link rel="stylesheet" href="/c.css"> */</style>',
    '<title><script type="module" src="/a.js"></script></title>',
  ])('finds no reference in %s', (html) => {
    expect(urlsOf(html)).toEqual([])
  })

  test('continues after inert elements', () => {
    expect(urlsOf('<template><noscript></noscript></template><link rel=stylesheet href=c.css>')).toEqual([
      'style c.css',
    ])
  })

  test('returns the fetch mode of each reference', () => {
    const html = `
      <script type="module" crossorigin src="/a.js"></script>
      <link rel="stylesheet" href="/b.css">
      <link rel="stylesheet" crossorigin="use-credentials" href="/c.css">
      <link rel="modulepreload" integrity="sha256-x" href="/d.js">`
    expect(readPage(elementsOfPage(html)).references).toEqual([
      { kind: 'module', isScript: true, url: '/a.js', crossorigin: true, isParticular: false },
      { kind: 'style', isScript: false, url: '/b.css', crossorigin: false, isParticular: false },
      { kind: 'style', isScript: false, url: '/c.css', crossorigin: true, isParticular: true },
      { kind: 'module', isScript: false, url: '/d.js', crossorigin: false, isParticular: true },
    ])
  })

  test('uses the first `<base>` with an `href`', () => {
    expect(readPage(elementsOfPage('<base target="_top"><base href="/a/"><base href="/b/">')).baseUrl).toBe(
      '/a/',
    )
    expect(readPage(elementsOfPage('<p>')).baseUrl).toBeUndefined()
  })

  test('accepts any text', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '<script type=module src=',
        '"',
        "'",
        '>',
        '<!--',
        '</',
        '<link rel=stylesheet href=',
        '<base ',
      ),
    )
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        for (const { url } of readPage(elementsOfPage(pieces.join(''))).references)
          expect(url.trim()).not.toBe('')
      }),
    )
  })
})
