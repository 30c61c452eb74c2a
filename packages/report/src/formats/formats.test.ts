import type { Download } from '@serve-dist/manifest'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createReport } from './create-report.ts'
import { formatBuildTable } from './format-build.ts'
import { formatJson } from './format-json.ts'
import { formatMarkdown } from './format-markdown.ts'
import { formatTerminal } from './format-terminal.ts'
import { parseBudgets } from '../budgets/parse-budgets.ts'
import { makeManifest } from '../../test/support/make-manifest.ts'

const before = makeManifest([
  { path: 'assets/index-AAAA1111.js', size: 10_000, variants: { gzip: 4100, br: 3500, zstd: 3900 } },
  { path: 'assets/Ünïcode-AAAA3333.css', size: 3000, variants: { br: 900 } },
  { path: 'index.html', size: 400 },
  { path: 'old.txt', size: 10 },
])
const after = makeManifest([
  { path: 'assets/index-BBBB1111.js', size: 11_000, variants: { gzip: 4500, br: 3800, zstd: 4200 } },
  { path: 'assets/Ünïcode-BBBB3333.css', size: 2000, variants: { br: 600 } },
  { path: 'index.html', size: 400 },
  { path: 'icon.png', size: 70 },
])
const download: Download = {
  files: 3,
  bytes: 4470,
  bytesWithDeltas: 789,
  changes: [
    { path: 'assets/index-BBBB1111.js', bytes: 3800, delta: 119, coding: 'dcb' },
    { path: 'assets/Ünïcode-BBBB3333.css', bytes: 600 },
    { path: 'icon.png', bytes: 70 },
  ],
}
const budgets = parseBudgets(['assets/*.js=4kb:br', 'total=5kb'])

describe('formatBuildTable', () => {
  const table = formatBuildTable(after, { colors: false, prefix: 'dist/' })

  test('has a row for each file with variants, the sent coding and the smallest coding', () => {
    expect(table.split('\n')).toEqual([
      '                                      size     gzip       br     zstd     sent   smallest',
      'dist/assets/Ünïcode-BBBB3333.css   2.00 kB        –  0.60 kB        –       br         br',
      'dist/assets/index-BBBB1111.js     11.00 kB  4.50 kB  3.80 kB  4.20 kB     zstd  br -400 B',
      '2 files without variants           0.47 kB',
      'dist/index.html (largest)          0.40 kB',
      'total of 4 files                  13.47 kB  6.97 kB  4.87 kB  6.67 kB  5.27 kB     -400 B',
      "Sending zstd first costs 400 B (+8.2 %). To send less, set prefer: 'smallest' in the plugin's option serving.",
    ])
  })

  test('fits a width, with the largest files, the ends of long paths, and units of MB', () => {
    const variants = { gzip: 3_500_000, br: 3_440_000, zstd: 3_450_000 }
    const sketches = Array.from({ length: 12 }, (_, at) => ({
      path: `assets/${'long-name-of-a-chunk-'.repeat(3)}${at}-AAAA1111.js`,
      size: 900_000_000 + at,
      variants,
    }))
    const image = { path: `images/${'long-name-'.repeat(8)}.png`, size: 1_080_000 }
    const build = makeManifest([...sketches, image, { path: 'icon.png', size: 9 }])
    const lines = formatBuildTable(build, { colors: false, rows: 10, width: 80 }).split('\n')
    expect(lines.filter((line) => line.startsWith('…'))).toHaveLength(11)
    expect(lines[13]).toMatch(/^….*-name-\.png \(largest\) +1\.08 MB$/)
    expect(lines[10]).toMatch(/^….*-chunk-11-AAAA1111\.js +900\.00 MB +3\.50 MB +3\.44 MB +3\.45 MB$/)
    expect(lines[14]).toMatch(/^total of 14 files /)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
  })

  test('leaves out files that the server does not send', () => {
    const build = makeManifest(
      ['_headers', '_redirects', 'a.js', 'a.js.map'].map((path) => ({ path, size: 9 })),
    )
    expect(formatBuildTable(build, { colors: false })).toContain('total of 2 files')
    const serving = { sourceMaps: 'deny' } as const
    expect(formatBuildTable({ ...build, serving }, { colors: false })).toContain('total of 1 file ')
  })

  test('has the same text with colours', () => {
    const colored = formatBuildTable(after, { colors: true, prefix: 'dist/' })
    expect(colored).not.toBe(table)
    expect(stripVTControlCharacters(colored)).toBe(table)
  })

  test('counts the files without their own row', () => {
    const variants = { br: 3000 }
    const sketches = Array.from({ length: 41 }, (_, at) => ({ path: `${at}.js`, size: 9000 + at, variants }))
    const many = formatBuildTable(makeManifest(sketches), { colors: false })
    expect(many).toContain('1 more file with variants')
    expect(many).toMatch(/^1\.js /m)
    expect(many).not.toMatch(/^0\.js /m)
  })

  test('reports no cost if the first coding is the smallest', () => {
    const build = makeManifest([{ path: 'a.js', size: 9000, variants: { zstd: 3000, br: 3000 } }])
    expect(formatBuildTable(build, { colors: false })).toContain('Sending zstd first costs nothing')
  })

  test('shows the smallest coding as sent if the build prefers it, and the saving', () => {
    const lines = formatBuildTable({ ...after, serving: { prefer: 'smallest' } }, { colors: false }).split(
      '\n',
    )
    expect(lines[2]).toMatch(/4\.20 kB +br +br$/)
    expect(lines[5]).toMatch(/^total of 4 files .* 4\.87 kB$/)
    expect(lines[6]).toBe("prefer: 'smallest' saves 400 B (-7.6 %) compared with zstd first.")
  })

  test('formats builds without variants or files', () => {
    const plain = formatBuildTable(makeManifest([{ path: 'a.js', size: 9 }]), { colors: false })
    expect(plain.split('\n')).toEqual([
      '                            size',
      '1 file without variants  0.01 kB',
      'a.js (largest)           0.01 kB',
      'total of 1 file          0.01 kB',
    ])
    expect(formatBuildTable({ files: [] }, { colors: false })).toBe('no files')
  })
})

describe('formatTerminal', () => {
  test('shows the build if there is no other build', () => {
    const text = formatTerminal(createReport(after), { colors: false })
    expect(text).toBe(formatBuildTable(after, { colors: false }))
  })

  test('shows the largest changes first, the totals and the budgets', () => {
    const text = formatTerminal(createReport(after, { against: before, budgets }), { colors: false })
    const lines = text.split('\n').map((line) => line.replaceAll(/ +/g, ' '))
    expect(lines.slice(1, 5)).toEqual([
      'assets/index-HASH.js size 10.00 kB 11.00 kB +1.00 kB +10.0 %',
      ' gzip 4.10 kB 4.50 kB +400 B +9.8 %',
      ' br 3.50 kB 3.80 kB +300 B +8.6 %',
      ' zstd 3.90 kB 4.20 kB +300 B +7.7 %',
    ])
    expect(lines).toContain('icon.png new size 0.00 kB 0.07 kB +70 B')
    expect(lines).toContain('old.txt removed size 0.01 kB 0.00 kB -10 B -100 %')
    expect(lines.slice(-4)).toEqual([
      'sent by default: 5.27 kB, +60 B (+1.2 %)',
      '2 files changed, 1 new, 1 removed; 1 the same',
      '✓ assets/*.js=4kb:br: 3.80 kB br of 4.00 kB, 200 B left',
      expect.stringMatching(
        /^✗ total=5kb: 5.27 kB sent of 5.00 kB, 270 B \(\+5.4 %\) over the limit: assets\/index-BB/,
      ),
    ])
  })

  test('shows the download of each file in br, in zstd and with deltas', () => {
    const text = formatTerminal(createReport(after, { against: before, download }), { colors: false })
    expect(text.split('\n').slice(-7)).toEqual([
      '',
      'downloaded again                  br     zstd  with deltas',
      'assets/index-BBBB1111.js     3.80 kB  4.20 kB        119 B   dcb',
      'assets/Ünïcode-BBBB3333.css    600 B  2.00 kB        600 B  none',
      'icon.png                        70 B     70 B         70 B  none',
      'total of 3 files             4.47 kB  6.27 kB        789 B',
      'a returning visitor downloads at most 3 files: 4.47 kB in br, 6.27 kB in zstd, 789 B with deltas (Chromium)',
    ])
  })

  test('wraps sentences to the width of a narrow terminal', () => {
    const options = { colors: false, width: 60 }
    const text = formatTerminal(createReport(after, { against: before, download }), options)
    expect(text.split('\n').slice(-2)).toEqual([
      'a returning visitor downloads at most 3 files: 4.47 kB in',
      'br, 6.27 kB in zstd, 789 B with deltas (Chromium)',
    ])
  })

  test('shortens paths to the width of a narrow terminal, and keeps the states of files', () => {
    const stem = `assets/${'long-name-'.repeat(8)}[hash].js`
    const path = (hash: string) => stem.replace('[hash]', hash)
    const earlier = makeManifest([{ path: path('AAAA1111'), stem, size: 1000 }])
    const paths = [path('BBBB1111'), `${'folder/'.repeat(12)}new.js`]
    const later = makeManifest(
      paths.map((each, at) => ({ path: each, stem: at === 0 ? stem : each, size: 9000 })),
    )
    const changes = paths.map((each) => ({ path: each, bytes: 9000 }))
    const report = createReport(later, { against: earlier, download: { files: 2, bytes: 18_000, changes } })
    const lines = formatTerminal(report, { colors: false, width: 80 }).split('\n')
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    expect(lines.map((line) => line.split('  ')[0])).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^….*-long-name-HASH\.js$/),
        expect.stringMatching(/^….*\/new\.js new$/),
        expect.stringMatching(/^….*-long-name-BBBB1111\.js$/),
        expect.stringMatching(/^….*\/folder\/new\.js$/),
      ]),
    )
  })

  test('counts the files without a row before the total', () => {
    const files = Array.from({ length: 22 }, (_, index) => ({ path: `${index}.txt`, size: 10 + index * 100 }))
    const [earlier, later] = [makeManifest([]), makeManifest(files)]
    const changes = files.map(({ path, size }) => ({ path, bytes: size }))
    const report = createReport(later, {
      against: earlier,
      download: { files: 22, bytes: 9000, changes },
    })
    const labels = formatTerminal(report, { colors: false })
      .split('\n')
      .map((line) => line.split('  ')[0])
    expect(labels.indexOf('and 2 smaller changes')).toBe(labels.indexOf('total other') - 2)
    expect(labels.indexOf('and 2 more files')).toBe(labels.indexOf('total of 22 files') - 1)
  })

  test('reports missing deltas and an empty download', () => {
    const lastLine = (given: Partial<typeof download>): string | undefined =>
      formatTerminal(createReport(after, { download: { ...download, ...given } }), { colors: false })
        .split('\n')
        .at(-1)
    const { bytesWithDeltas: _, ...withoutDeltas } = download
    const plain = createReport(after, { download: withoutDeltas })
    expect(formatTerminal(plain, { colors: false })).toMatch(/ 6\.27 kB in zstd, no deltas$/)
    expect(lastLine({ files: 0, bytes: 0, changes: [] })).toBe('a returning visitor downloads nothing')
  })

  test('escapes characters that change the direction of text', () => {
    const build = makeManifest([{ path: 'a\u{202E}gpj.js', size: 9000, variants: { br: 1 } }])
    expect(formatTerminal(createReport(build), { colors: false })).toContain(String.raw`a\u{202e}gpj.js`)
  })
})

describe('formatMarkdown', () => {
  const text = formatMarkdown(createReport(after, { against: before, budgets }))

  test('starts with the marker of the comment', () => {
    expect(text.startsWith('<!-- serve-dist report -->\n')).toBe(true)
  })

  test('uses the given title, also in the marker, which it cannot end', () => {
    const named = formatMarkdown(createReport(after, { title: 'apps/shop --> <b>' }))
    expect(named).toMatch(/^<!-- serve-dist report: apps\/shop b -->\n\n### apps\/shop --&#62; &#60;b&#62;: /)
  })

  test('marks files that are larger, smaller, new, removed and over the budget', () => {
    expect(text).toContain('### 🔺 Build size: +60 B (+1.2 %)')
    expect(text).toMatch(
      /\| <code>assets\/index-HASH\.js<\/code> \| 11\.00 kB<br>🔺 \+1\.00 kB \(\+10\.0 %\)/,
    )
    expect(text).toContain('<code>assets/Ünïcode-HASH.css</code> | 2.00 kB<br>✅ -1.00 kB (-33.3 %)')
    expect(text).toContain('🆕 new <code>icon.png</code>')
    expect(text).toContain('🗑️ removed <code>old.txt</code>')
    expect(text).toMatch(/^- ❌ total=5kb/m)
  })

  test('collapses the files of each kind and omits kinds without changes', () => {
    expect(text).toContain('<details><summary>🔺 js: 1 file changed, +300 B (+7.7 %) sent</summary>\n\n|')
    expect(text).not.toContain('html: ')
  })

  test('collapses the download of a returning visitor, or reports that it is empty', () => {
    const folded = formatMarkdown(createReport(after, { against: before, download }))
    const title =
      'a returning visitor downloads at most 3 files&#58; 4.47 kB in br, 6.27 kB in zstd, 789 B with deltas (Chromium)'
    expect(folded).toContain(`<details><summary>${title}</summary>\n\n| file | br | zstd | with deltas |`)
    expect(folded).toContain('| <code>assets/index-BBBB1111.js</code> | 3.80 kB | 4.20 kB | 119 B dcb |')
    expect(folded).toContain('| <code>icon.png</code> | 70 B | 70 B | 70 B |')
    const nothing = createReport(after, { download: { files: 0, bytes: 0, changes: [] } })
    expect(formatMarkdown(nothing)).toContain('\n\na returning visitor downloads nothing\n\n')
  })

  test('escapes names that would end a cell or become links, mentions or tags', () => {
    const path =
      'a`|<img src=x onerror=alert(1)>*_[x](https://a.example)@everyone www.evil.example\u{202E}.js'
    const hostile = formatMarkdown(createReport(makeManifest([{ path, size: 9 }])))
    const line = hostile.split('\n').find((row) => row.includes('onerror')) ?? ''
    expect(line.split('|')).toHaveLength(8)
    expect(line.replaceAll(/<\/?code>/g, '')).not.toMatch(/[<>`*_[\]@:\u{202E}]|www\./u)
  })

  test.each([
    ['long names', 'long-'.repeat(200)],
    ['names beyond ASCII', '長い名前'.repeat(200)],
  ])('is short enough for a comment with %s', (_names, name) => {
    const sketches = Array.from({ length: 400 }, (_, index) => ({ path: `${name}${index}.js`, size: index }))
    const long = formatMarkdown(createReport(makeManifest(sketches)))
    expect(Buffer.byteLength(long)).toBeLessThan(65_536)
    expect(long).toContain('more files.')
  })
})

describe('formatJson', () => {
  const {
    version,
    build,
    comparison,
    budgets: results,
  } = JSON.parse(formatJson(createReport(after, { against: before, budgets })))

  test('describes the build', () => {
    expect(version).toBe(1)
    expect(build).toMatchObject({
      buildId: after.buildId,
      totals: { js: { identity: 11_000, br: 3800 }, total: { identity: 13_470 } },
      preference: { first: 'zstd', bytes: 400 },
    })
    expect(build.files[1]).toMatchObject({
      path: 'assets/Ünïcode-BBBB3333.css',
      kind: 'css',
      variants: { br: 600 },
      sizes: { gzip: 2000, br: 600 },
      sent: 'br',
    })
  })

  test('uses the preference of the build for the sent size', () => {
    const report = createReport({ ...after, serving: { prefer: 'smallest' } }, { against: before })
    const described = JSON.parse(formatJson(report))
    expect(described.build.preference).toMatchObject({ prefer: 'smallest', bytes: 400 })
    expect(described.build.totals.total.sent).toBe(described.build.totals.total.smallest)
    const index = described.comparison.files.find(({ name }: { name: string }) => name.includes('index-'))
    expect(index.sizes.sent).toMatchObject({ before: 3900, after: 3800 })
  })

  test('describes the comparison with null for missing values', () => {
    expect(comparison.against.buildId).toBe(before.buildId)
    expect(comparison.files).toContainEqual(
      expect.objectContaining({ name: 'icon.png', state: 'new', before: null, after: 'icon.png' }),
    )
    const icon = comparison.files.find(({ name }: { name: string }) => name === 'icon.png')
    expect(icon.sizes.br).toEqual({ before: 0, after: 70, bytes: 70, percent: null, verdict: 'larger' })
    expect(JSON.parse(formatJson(createReport(after))).comparison).toBeNull()
  })

  test('describes the download of a returning visitor', () => {
    const described = JSON.parse(formatJson(createReport(after, { against: before, download }))).download
    expect(described).toMatchObject({
      files: 3,
      bytes: 4470,
      bytesWithDeltas: 789,
      sizes: { br: 4470, zstd: 6270 },
    })
    expect(described.changes).toMatchObject([
      { path: 'assets/index-BBBB1111.js', bytes: 3800, delta: 119, coding: 'dcb', sizes: { zstd: 4200 } },
      { path: 'assets/Ünïcode-BBBB3333.css', bytes: 600, delta: null, coding: null, sizes: { zstd: 2000 } },
      { path: 'icon.png' },
    ])
    expect(JSON.parse(formatJson(createReport(after))).download).toBeNull()
  })

  test('describes the budgets', () => {
    expect(results).toMatchObject([
      { text: 'assets/*.js=4kb:br', outcome: 'within' },
      { text: 'total=5kb', outcome: 'exceeded', over: 270 },
    ])
  })
})
