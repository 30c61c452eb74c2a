import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createReport } from '../formats/create-report.ts'
import { embedJson, formatHtml } from './format-html.ts'
import { pageData } from './page-data.ts'
import { parseBudgets } from '../budgets/parse-budgets.ts'
import { makeManifest } from '../../test/support/make-manifest.ts'

const assets = { script: 'run()', style: 'body{}' }
const before = makeManifest([
  { path: 'assets/index-AAAA1111.js', size: 1000, variants: { br: 400 } },
  { path: 'assets/old-AAAA2222.js', size: 70 },
])
const after = makeManifest([
  { path: 'assets/index-BBBB1111.js', size: 1200, variants: { br: 500 } },
  { path: 'index.html', size: 100 },
])

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

describe('formatHtml', () => {
  const html = formatHtml(
    createReport(after, { against: before, budgets: parseBudgets(['total=1kb']) }),
    assets,
  )

  test('permits only its own script and style by their digests', () => {
    const policy = /<meta http-equiv="Content-Security-Policy" content="(.+?)">/.exec(html)?.[1]
    expect(policy?.replaceAll('&#39;', "'").split('; ')).toEqual([
      "default-src 'none'",
      `script-src 'sha256-${sha256('run()')}'`,
      `style-src 'sha256-${sha256('body{}')}'`,
      "base-uri 'none'",
      "form-action 'none'",
    ])
  })

  test('refers to no external resource', () => {
    expect(html).not.toMatch(/\b(?:src|href|srcset|action)=|url\(|@import/)
  })

  test('contains all files as a table, changed files first', () => {
    const rows = [
      ...html.matchAll(/<th scope="row"><bdi>(.+?)<\/bdi>(?:<span class="state">(\w+)<\/span>)?/g),
    ]
    expect(rows.map(([, path, state]) => [path, state])).toEqual([
      ['assets/index-HASH.js', 'changed'],
      ['index.html', 'new'],
      ['assets/old-AAAA2222.js', 'removed'],
    ])
    expect(html).toContain(
      '1.20&nbsp;kB<span class="change" data-verdict="larger">▲&nbsp;+200&nbsp;B (+20.0&nbsp;%)</span>',
    )
    expect(html).toContain('<li data-outcome="within">')
  })

  test('breaks no line between a number and its unit', () => {
    const markup = html.slice(html.indexOf('<main>'), html.indexOf('</main>'))
    expect(markup).toMatch(/\d&nbsp;kB/)
    expect(markup).not.toMatch(/\d (?:[kM]?B|%)/)
  })

  test('escapes hostile names in the markup and in the data', () => {
    const names = [
      '<img src=x onerror=alert(1)>.js',
      'a/</script><script>alert(1)</script>.js',
      `"'&lt;.js`,
      '<!--<script>.js',
      '__proto__/constructor.js',
      'a\u{202E}b.js',
    ]
    const hostile = formatHtml(createReport(makeManifest(names.map((path) => ({ path, size: 9 })))), assets)
    expect(hostile.match(/<script/g)).toHaveLength(2)
    expect(hostile.match(/<\/script/g)).toHaveLength(2)
    expect(hostile).not.toMatch(/<img|<!--|\u{202E}/u)
    expect(hostile).toContain('<bdi>&quot;&#39;&amp;lt;.js</bdi>')
  })
})

describe('embedJson', () => {
  test('contains the same JSON without markup characters', () => {
    const value = { '</script>': ['<!--', '&amp;', '\u{2028}'] }
    expect(embedJson(value)).not.toMatch(/[<>&\u{2028}]/u)
    expect(JSON.parse(embedJson(value))).toEqual(value)
  })
})

describe('pageData', () => {
  const { columns, root } = pageData(createReport(after, { against: before }))

  test('has a column for each coding of either build', () => {
    expect(columns).toEqual(['identity', 'br', 'sent'])
    expect(pageData(createReport(makeManifest([{ path: 'a', size: 1 }]))).columns).toEqual(['identity'])
  })

  test('sums folders, including the changes of removed files', () => {
    const folder = root.children?.find(({ kind }) => kind === 'folder')
    expect(folder).toMatchObject({ name: 'assets', path: 'assets/' })
    expect(folder?.sizes[0]).toMatchObject({
      bytes: 1200,
      text: '1.20 kB',
      change: '+130 B (+12.1 %)',
      verdict: 'larger',
    })
  })

  test('has the download of a returning visitor: nothing, a delta or the whole file', () => {
    const changed = { path: 'assets/index-BBBB1111.js', bytes: 500, delta: 40, coding: 'dcz' } as const
    const changes = [changed, { path: 'index.html', bytes: 100 }]
    const download = { files: 2, bytes: 600, bytesWithDeltas: 140, changes }
    const again = [{ path: 'assets/same.js', size: 7 }]
    const build = makeManifest([
      { path: 'assets/index-BBBB1111.js', size: 1200, variants: { br: 500 } },
      { path: 'index.html', size: 100 },
      ...again,
    ])
    const data = pageData(createReport(build, { against: makeManifest(again), download }))
    expect(data.columns.at(-1)).toBe('returning visitor')
    expect(data.root.sizes.at(-1)).toMatchObject({ bytes: 140, change: 'of 600 B', verdict: 'smaller' })
    const files = data.root.children?.flatMap((node) => node.children ?? [node]) ?? []
    expect(Object.fromEntries(files.map(({ path, sizes }) => [path, sizes.at(-1)]))).toEqual({
      'assets/index-BBBB1111.js': {
        bytes: 40,
        text: '40 B',
        change: 'of 500 B',
        verdict: 'smaller',
        strength: 1,
      },
      'assets/same.js': { bytes: 0, text: '0 B' },
      'index.html': { bytes: 100, text: '100 B' },
    })
    const html = formatHtml(createReport(build, { download }), assets)
    expect(html).toContain('<span>a returning visitor downloads at most 2 files: ')
    expect(html).toContain('▼ a delta')
    expect(formatHtml(createReport(build), assets)).not.toContain('▼ a delta')
  })

  test('accepts names of built-in object properties', () => {
    const odd = pageData(
      createReport(
        makeManifest([
          { path: '__proto__/a.js', size: 5 },
          { path: 'b.js', size: 1 },
        ]),
      ),
    )
    expect(odd.root.children?.map(({ path }) => path)).toEqual(['b.js', '__proto__/'])
  })
})
