import { describe, expect, test } from 'vitest'
import { notModifiedAnswer, okAnswer } from './representation-answers.ts'
import type { Entry } from './site.ts'
import { fakeSite, type FakeSiteOptions, resourceAt } from '../../test/support/fake-site.ts'

/** Describes the entry of each path: a file, `→ location`, or `undefined`. */
function entriesAt(
  names: readonly string[],
  paths: readonly string[],
  options: FakeSiteOptions = {},
): Readonly<Record<string, string | undefined>> {
  const { table } = fakeSite(Object.fromEntries(names.map((name) => [name, name])), options)
  return Object.fromEntries(
    paths.map((path) => {
      const entry = table.get(path)
      return [path, entry?.kind === 'redirect' ? `→ ${entry.location}` : resourcePath(entry)]
    }),
  )
}

function resourcePath(entry: Entry | undefined): string | undefined {
  return entry?.kind === 'resource' ? entry.path : undefined
}

describe('buildSite', () => {
  describe('the table', () => {
    test.each<readonly [string, readonly string[], Readonly<Record<string, string | undefined>>]>([
      [
        'exact file names',
        ['a.js', 'b/c.css'],
        { '/a.js': 'a.js', '/b/c.css': 'b/c.css', '/b': undefined, '/b/': undefined },
      ],
      [
        'the root page',
        ['index.html'],
        { '/': 'index.html', '/index.html': 'index.html', '/index': undefined },
      ],
      [
        'a page of a folder',
        ['docs/index.html'],
        {
          '/docs/': 'docs/index.html',
          '/docs': '→ /docs/',
          '/docs/index.html': 'docs/index.html',
          '/': undefined,
        },
      ],
      [
        'a page without its extension',
        ['about.html'],
        { '/about': 'about.html', '/about/': '→ /about', '/about.html': 'about.html' },
      ],
      [
        'a page in nested folders',
        ['a/b/c.html'],
        { '/a/b/c': 'a/b/c.html', '/a/b/c/': '→ /a/b/c', '/a/b': undefined },
      ],
      [
        'a page and a folder with the same name',
        ['about.html', 'about/index.html'],
        { '/about': 'about.html', '/about/': 'about/index.html' },
      ],
      [
        'a page and a folder without a page',
        ['about.html', 'about/us.html'],
        { '/about': 'about.html', '/about/': '→ /about', '/about/us': 'about/us.html' },
      ],
      [
        'a file that precedes a page with the same name',
        ['about', 'about.html'],
        { '/about': 'about', '/about.html': 'about.html' },
      ],
      [
        'a file that precedes the redirect of a folder',
        ['docs', 'docs/index.html'],
        { '/docs': 'docs', '/docs/': 'docs/index.html' },
      ],
      [
        'a folder with the name of a page',
        ['x.html/index.html', 'x.html.html'],
        { '/x.html': 'x.html.html', '/x.html/': 'x.html/index.html' },
      ],
      [
        'pages by their exact case only',
        ['A.HTML', 'INDEX.HTML'],
        { '/A': undefined, '/': undefined, '/A.HTML': 'A.HTML' },
      ],
      [
        'a page whose name ends in "index"',
        ['a-index.html'],
        { '/a-index': 'a-index.html', '/a-': undefined, '/': undefined },
      ],
      [
        'names with escapes',
        ['a b/é+%[1].html'],
        {
          '/a%20b/%C3%A9+%25%5B1%5D.html': 'a b/é+%[1].html',
          '/a%20b/%C3%A9+%25%5B1%5D': 'a b/é+%[1].html',
          '/a%20b/%C3%A9+%25%5B1%5D/': '→ /a%20b/%C3%A9+%25%5B1%5D',
        },
      ],
      [
        'two Unicode forms of a letter as different paths',
        ['\u00e9.txt', 'e\u0301.txt'],
        { '/%C3%A9.txt': '\u00e9.txt', '/e%CC%81.txt': 'e\u0301.txt' },
      ],
      [
        'a compressed file of the user',
        ['data.csv.gz'],
        { '/data.csv.gz': 'data.csv.gz', '/data.csv': undefined },
      ],
    ])('resolves %s', (_what, names, entries) => {
      expect(entriesAt(names, Object.keys(entries))).toEqual(entries)
    })

    test('does not list variants by their suffix', () => {
      const { table } = fakeSite({ 'a.js': { body: 'a', variants: { zstd: 'z', br: 'b', gzip: 'g' } } })
      expect([...table.keys()]).toEqual(['/a.js', '/__serve-dist/build.json', '/__serve-dist/kept.json'])
    })

    test('puts all paths below the base and redirects the base without its slash', () => {
      const paths = ['/my%20app/', '/my%20app/a.js', '/my%20app', '/a.js', '/', '/my%20app/docs']
      expect(entriesAt(['a.js', 'index.html', 'docs/index.html'], paths, { base: '/my app/' })).toEqual({
        '/my%20app/': 'index.html',
        '/my%20app/a.js': 'a.js',
        '/my%20app': '→ /my%20app/',
        '/a.js': undefined,
        '/': undefined,
        '/my%20app/docs': '→ /my%20app/docs/',
      })
    })

    test('never redirects to another host', () => {
      const { table } = fakeSite({ 'a.html': 'a', 'b/index.html': 'b', 'index.html': 'i' }, { base: '/x/' })
      const locations = [...table.values()].flatMap((entry) =>
        entry.kind === 'redirect' ? [entry.location] : [],
      )
      expect(locations).toEqual(['/x/a', '/x/b/', '/x/'])
    })
  })

  describe('a resource', () => {
    const site = fakeSite({
      'assets/a-1a2b3c.js': {
        body: 'long enough',
        variants: { zstd: 'zz', br: 'b' },
        mediaType: 'text/javascript; charset=utf-8',
        cache: 'immutable',
        lastModified: '1994-11-06T08:49:37Z',
      },
      'plain.png': { body: 'pixels', mediaType: 'image/png' },
    })
    const script = resourceAt(site, '/assets/a-1a2b3c.js')
    const [zstd = script.identity] = script.representations

    test('sends every field of the chosen representation exactly once with 200', () => {
      expect(okAnswer(zstd, script)).toEqual({
        status: 200,
        fields: [
          ['Content-Type', 'text/javascript; charset=utf-8'],
          ['Content-Length', '2'],
          ['Content-Encoding', 'zstd'],
          ['Vary', 'Accept-Encoding'],
          ['ETag', zstd.entityTag],
          ['Last-Modified', 'Sun, 06 Nov 1994 08:49:37 GMT'],
          ['Cache-Control', 'public, max-age=31536000, immutable'],
          ['X-Content-Type-Options', 'nosniff'],
        ].flat(),
        content: { kind: 'memory', bytes: Buffer.from('zz') },
        // Compared with the eleven bytes of the identity.
        savedBytes: 9,
      })
    })

    test('sends exactly the fields of RFC 9110 §15.4.5 with 304', () => {
      expect(notModifiedAnswer(zstd, script)).toEqual({
        status: 304,
        fields: [
          ['Vary', 'Accept-Encoding'],
          ['ETag', zstd.entityTag],
          ['Last-Modified', 'Sun, 06 Nov 1994 08:49:37 GMT'],
          ['Cache-Control', 'public, max-age=31536000, immutable'],
        ].flat(),
        content: { kind: 'none' },
      })
    })

    test('has a different entity tag for each representation', () => {
      const tags = resourceAt(site, '/assets/a-1a2b3c.js').representations.map(({ entityTag }) => entityTag)
      expect(new Set(tags).size).toBe(3)
    })

    test('offers ranges of the identity only', () => {
      const offers = script.representations.map((representation) => [
        representation.coding,
        okAnswer(representation, script).fields.includes('Accept-Ranges'),
      ])
      expect(offers).toEqual([
        ['zstd', false],
        ['br', false],
        ['identity', true],
      ])
    })

    test('has no Vary without variants and must be revalidated without a hash in its name', () => {
      const plain = resourceAt(site, '/plain.png')
      expect(plain.vary).toBeUndefined()
      const { fields } = okAnswer(plain.identity, plain)
      expect(fields).not.toContain('Vary')
      expect(fields).toContain('no-cache')
    })

    test('streams bodies that are not in memory', () => {
      const streamed = fakeSite({ 'a.bin': { body: 'abc', isStreamed: true } })
      const resource = resourceAt(streamed, '/a.bin')
      const { content } = okAnswer(resource.identity, resource)
      expect(content).toEqual({ kind: 'file', stored: resource.identity.bytes, first: 0, end: 3 })
    })

    test('lists the smallest representation first if `prefer` says so', () => {
      const sized = { 'a.js': { body: '1234', variants: { zstd: '123', br: '1', gzip: '12' } } }
      const codings = resourceAt(fakeSite(sized, { prefer: 'smallest' }), '/a.js').representations
      expect(codings.map(({ coding }) => coding)).toEqual(['br', 'gzip', 'zstd', 'identity'])
    })
  })

  test('summarizes the files and the memory of a site', () => {
    const site = fakeSite({
      'a.js': { body: '1234', variants: { br: '12', gzip: '123' } },
      'b.bin': { body: 'streamed', isStreamed: true },
    })
    expect(site.summary).toEqual({
      files: 2,
      pages: 0,
      isNotFoundOnly: false,
      variants: 2,
      bytesInMemory: 9,
      unlistedFiles: 0,
      keptBuilds: 0,
      keptFiles: 0,
    })
  })

  test.each([
    ['', undefined],
    ['assets', '/base/assets/'],
    ['my assets/é', '/base/my%20assets/%C3%A9/'],
  ])('maps the assets directory %j to %s', (assetsDirectory, path) => {
    expect(fakeSite({}, { base: '/base/', assetsDirectory }).assetsPath).toBe(path)
  })
})
