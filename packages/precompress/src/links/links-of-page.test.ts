import { describe, expect, test } from 'vitest'
import type { ChunkNeeds } from '../record/build-record.ts'
import type { ChunkGraph } from './follow-imports.ts'
import { linksOfPage, type PageBuild } from './links-of-page.ts'
import { elementsOfPage } from './elements-of-page.ts'
import { readPage } from './read-page.ts'

const graph: ChunkGraph = new Map([
  ['assets/entry.js', { imports: ['assets/vendor.js'], styles: ['assets/entry.css'] }],
  ['assets/vendor.js', { imports: [], styles: ['assets/vendor.css'] }],
])
const paths = new Set([
  'index.html',
  'guide/page.html',
  'theme.css',
  'assets/entry.js',
  'assets/vendor.js',
  'assets/entry.css',
  'assets/vendor.css',
  'assets/größe 1.js',
  'assets/text.woff2',
])
const build: PageBuild = { base: '/', paths, graph, readStyle: undefined }
const entry = '<script type="module" crossorigin src="/assets/entry.js"></script>'

async function pathsOf(html: string, more: Partial<PageBuild> = {}, page = 'index.html'): Promise<string[]> {
  const links = await linksOfPage(page, readPage(elementsOfPage(html)), { ...build, ...more })
  return links.map(({ path, inDocument }) => `${path}${inDocument ? ' (named)' : ''}`)
}

describe('linksOfPage', () => {
  test('returns no modulepreload if the page has an import map, because the map must come first', async () => {
    const page = `<script type=" ImportMap">{"imports":{}}</script>${entry}`
    const links = await linksOfPage('index.html', readPage(elementsOfPage(page)), build)
    const hint = { rel: 'preload', as: 'script', crossorigin: true }
    expect(links.slice(2)).toEqual([
      { path: 'assets/entry.js', ...hint, inDocument: true },
      { path: 'assets/vendor.js', ...hint, inDocument: false },
    ])
  })

  test('returns styles, then the scripts of the page, then their imports', async () => {
    expect(await linksOfPage('index.html', readPage(elementsOfPage(entry)), build)).toEqual([
      { path: 'assets/vendor.css', rel: 'preload', as: 'style', crossorigin: true, inDocument: false },
      { path: 'assets/entry.css', rel: 'preload', as: 'style', crossorigin: true, inDocument: false },
      { path: 'assets/entry.js', rel: 'modulepreload', inDocument: true },
      { path: 'assets/vendor.js', rel: 'modulepreload', inDocument: false },
    ])
  })

  test('recognizes links in the page in any form', async () => {
    const html = `${entry}
      <link rel=modulepreload href=assets/vendor.js>
      <link rel="stylesheet" href="./assets/entry.css">
      <link rel='preload' as='style' href='http://page.invalid/assets/vendor.css'>`
    expect((await pathsOf(html)).filter((path) => !path.endsWith(' (named)'))).toEqual([])
  })

  test('returns links of the page outside the graph, with their fetch mode', async () => {
    const html =
      '<link rel="stylesheet" href="/theme.css"><script type="module" src="/assets/gr%C3%B6%C3%9Fe%201.js"></script>'
    expect(await linksOfPage('index.html', readPage(elementsOfPage(html)), build)).toEqual([
      { path: 'theme.css', rel: 'preload', as: 'style', inDocument: true },
      { path: 'assets/größe 1.js', rel: 'modulepreload', inDocument: true },
    ])
  })

  test.each([
    ['another host', '<script type="module" src="https://cdn.example/assets/entry.js"></script>'],
    ['a URL with a query', '<script type="module" src="/assets/entry.js?v=1"></script>'],
    ['a missing file', '<script type="module" src="/assets/gone.js"></script>'],
    ['a broken escape', '<script type="module" src="/assets/%.js"></script>'],
    ['an invalid URL', '<script type="module" src="http://"></script>'],
    ['a classic script', '<script nomodule src="/assets/entry.js"></script>'],
  ])('returns nothing for %s', async (_, html) => {
    expect(await pathsOf(html)).toEqual([])
  })

  test('omits links with an integrity attribute', async () => {
    expect(
      await pathsOf(`${entry}<link rel="modulepreload" integrity="sha256-x" href="/assets/vendor.js">`),
    ).toEqual(['assets/vendor.css', 'assets/entry.css', 'assets/entry.js (named)'])
  })

  test("resolves URLs against the page's location and base", async () => {
    const relative = '<script type="module" src="../assets/entry.js"></script>'
    const entryOnly = { graph: new Map() }
    expect(await pathsOf(relative, entryOnly, 'guide/page.html')).toEqual(['assets/entry.js (named)'])
    expect(await pathsOf(entry, { ...entryOnly, base: '/my app/' })).toEqual([])
    const based = '<script type="module" src="/my%20app/assets/entry.js"></script>'
    expect(await pathsOf(based, { ...entryOnly, base: '/my app/' })).toEqual(['assets/entry.js (named)'])
    const moved = '<base href="/assets/"><script type="module" src="entry.js"></script>'
    expect(await pathsOf(moved, entryOnly, 'guide/page.html')).toEqual(['assets/entry.js (named)'])
    const away = `<base href="https://cdn.example/"><script type="module" src="assets/entry.js"></script>`
    expect(await pathsOf(away)).toEqual([])
  })

  test('returns the fonts of the styles if the option is on', async () => {
    const read: string[] = []
    const readStyle = async (path: string) => {
      read.push(path)
      return '@font-face{src:url(text.woff2)}@font-face{src:url(https://fonts.example/a.woff2)}'
    }
    const links = await linksOfPage('index.html', readPage(elementsOfPage(entry)), { ...build, readStyle })
    expect(links.slice(4)).toEqual([
      { path: 'assets/text.woff2', rel: 'preload', as: 'font', inDocument: false },
    ])
    expect(read).toEqual(['assets/vendor.css', 'assets/entry.css'])
  })

  test('limits the length of the links', async () => {
    const imports = Array.from({ length: 200 }, (_, index) => `assets/chunk-${index}.js`)
    const links = await pathsOf(entry, {
      paths: new Set([...paths, ...imports]),
      graph: new Map([
        ['assets/entry.js', { imports, styles: [] }],
        ...imports.map((path): [string, ChunkNeeds] => [path, { imports: [], styles: [] }]),
      ]),
    })
    expect(links.slice(0, 2)).toEqual(['assets/entry.js (named)', 'assets/chunk-0.js'])
    expect(links.length).toBeGreaterThan(20)
    expect(links.length).toBeLessThan(45)
  })
})
