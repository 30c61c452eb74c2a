import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchFiles } from './match-files.ts'
import { type FileSketch, makeManifest } from '../../test/support/make-manifest.ts'

/** Returns the pairs as `name: before → after`. */
function matches(before: readonly FileSketch[], after: readonly FileSketch[]): string[] {
  return matchFiles(makeManifest(before), makeManifest(after)).map(
    (file) => `${file.name}: ${file.before?.path ?? 'none'} → ${file.after?.path ?? 'none'}`,
  )
}

function files(...entries: readonly (readonly [path: string, size: number])[]): FileSketch[] {
  return entries.map(([path, size]) => ({ path, size }))
}

/** Makes a chunk whose name is only a hash. */
function bareChunk(index: number, letter: string): FileSketch {
  return { path: `assets/${letter}${String(index).padStart(7, '0')}.js`, size: 1000 + index * 7 }
}

function indexChunk(letter: string, index: number, size: number, content: string): FileSketch {
  return { path: `assets/index-${letter}${index}.js`, stem: 'assets/index-[hash].js', size, content }
}

describe('matchFiles', () => {
  test('matches equal paths first', () => {
    expect(matches(files(['index.html', 10]), files(['index.html', 12]))).toEqual([
      'index.html: index.html → index.html',
    ])
  })

  test.each([
    [
      'assets/index-DiwrgTda.js',
      'assets/index-B1xK_9-z.js',
      'assets/index-[hash].js',
      'assets/index-HASH.js',
    ],
    [
      'assets/main.0123456789abcdef0123.js',
      'assets/main.fedcba98765432100123.js',
      'assets/main.[hash].js',
      'assets/main.HASH.js',
    ],
    ['js/12ab34.js', 'js/98ab34.js', 'js/[hash].js', 'js/HASH.js'],
    ['x/12ab/a-12ab.js', 'x/98ab/a-98ab.js', 'x/[hash]/a-[hash].js', 'x/HASH/a-HASH.js'],
  ])('matches %s with %s by their stem, at any position of the hash', (before, after, stem, name) => {
    const cache = 'revalidate'
    const one = makeManifest([{ path: before, stem, size: 9, cache }])
    const other = makeManifest([{ path: after, stem, size: 8, cache }])
    expect(matchFiles(one, other)).toMatchObject([{ name, before: { path: before }, after: { path: after } }])
  })

  test('does not match different stems with similar names', () => {
    const one: FileSketch[] = [{ path: 'assets/a-primary1.js', stem: 'assets/a-primary1.js', size: 5 }]
    const other: FileSketch[] = [{ path: 'assets/a-warning2.js', stem: 'assets/a-warning2.js', size: 5 }]
    expect(matches(one, other)).toHaveLength(2)
  })

  test('matches files with one stem by equal content, then by size', () => {
    const before = [
      indexChunk('A', 1, 10, 'a'),
      indexChunk('A', 2, 300, 'same'),
      indexChunk('A', 3, 5000, 'b'),
    ]
    const after = [
      indexChunk('B', 1, 6000, 'c'),
      indexChunk('B', 2, 20, 'd'),
      indexChunk('B', 3, 300, 'same'),
      indexChunk('B', 4, 1, 'e'),
    ]
    expect(matches(before, after)).toEqual([
      'assets/index-B1.js: assets/index-A3.js → assets/index-B1.js',
      'assets/index-B2.js: assets/index-A1.js → assets/index-B2.js',
      'assets/index-B3.js: assets/index-A2.js → assets/index-B3.js',
      'assets/index-B4.js: none → assets/index-B4.js',
    ])
  })

  test('prefers an equal stem to equal content', () => {
    const before: FileSketch[] = [{ path: 'a-1.js', stem: 'a-[hash].js', size: 1, content: 'x' }]
    const after: FileSketch[] = [
      { path: 'a-2.js', stem: 'a-[hash].js', size: 1, content: 'y' },
      { path: 'b-2.js', stem: 'b-[hash].js', size: 1, content: 'x' },
    ]
    expect(matches(before, after)).toEqual(['a-HASH.js: a-1.js → a-2.js', 'b-2.js: none → b-2.js'])
  })

  test.each([
    ['assets/index-DiwrgTda.js', 'assets/index-B1xK_9-z.js', 'assets/index-HASH.js'],
    ['assets/rt-WkwZ5CU-.js', 'assets/rt-Ab3dEf9h.js', 'assets/rt-HASH.js'],
    ['assets/page-CL-M5r1t.js', 'assets/page-CL-x9Kf2.js', 'assets/page-HASH.js'],
    ['assets/settings-12ab34cd.js.map', 'assets/settings-98ab34ce.js.map', 'assets/settings-HASH.js.map'],
    ['assets/12ab34cd.js', 'assets/98ab34ce.js', 'assets/HASH.js'],
  ])(
    'treats eight characters before the extension as the hash if there are no stems: %s',
    (before, after, name) => {
      const sketch = files([after, 8])
      expect(matches(files([before, 9]), sketch)).toEqual([`${name}: ${before} → ${after}`])
      const known: FileSketch[] = [{ path: after, stem: name.replace('HASH', '[hash]'), size: 8 }]
      expect(matches(files([before, 9]), known)).toEqual([`${name}: ${before} → ${after}`])
    },
  )

  test('does not match names that differ in more than a hash', () => {
    const found = matches(files(['assets/index-AAAA1111.css', 5]), files(['assets/about-BBBB1111.css', 5]))
    expect(found).toHaveLength(2)
  })

  test('does not match another extension or another folder', () => {
    const before = files(['assets/a-AAAA1111.js', 5])
    const after = files(['assets/a-BBBB1111.css', 5], ['assets/b/a-BBBB1111.js', 5])
    expect(matches(before, after)).toHaveLength(3)
  })

  test('keeps names without a hash from the bundler', () => {
    const before: FileSketch[] = [{ path: 'assets/photo-20250101.jpg', size: 5, cache: 'revalidate' }]
    const after: FileSketch[] = [{ path: 'assets/photo-20260101.jpg', size: 6, cache: 'revalidate' }]
    expect(matches(before, after)).toHaveLength(2)
  })

  test('matches chunks with the same name by size and keeps their names', () => {
    const before = files(['assets/index-AAAA1111.js', 400], ['assets/index-AAAA2222.js', 90_000])
    const after = files(['assets/index-BBBB1111.js', 90_500], ['assets/index-BBBB2222.js', 390])
    expect(matches(before, after)).toEqual([
      'assets/index-BBBB1111.js: assets/index-AAAA2222.js → assets/index-BBBB1111.js',
      'assets/index-BBBB2222.js: assets/index-AAAA1111.js → assets/index-BBBB2222.js',
    ])
  })

  test('matches equal content under any name', () => {
    const before: FileSketch[] = [{ path: 'logo.svg', size: 5, content: 'logo' }]
    const after: FileSketch[] = [{ path: 'images/brand.svg', size: 5, content: 'logo' }]
    expect(matches(before, after)).toEqual(['images/brand.svg: logo.svg → images/brand.svg'])
  })

  test('is fast for thousands of names that are only a hash', () => {
    const before = Array.from({ length: 4000 }, (_, index) => bareChunk(index, 'a'))
    const after = Array.from({ length: 4000 }, (_, index) => bareChunk(index, 'b'))
    const matched = matchFiles(makeManifest(before), makeManifest(after))
    expect(matched).toHaveLength(4000)
    expect(matched.every((pair) => pair.before?.size === pair.after?.size)).toBe(true)
  })
})

describe('matchFiles with arbitrary names', () => {
  test('returns every file of both builds exactly once', () => {
    const build = fc.uniqueArray(fc.tuple(fc.stringMatching(/^assets\/[\w.-]{1,20}x$/), fc.nat(9999)), {
      selector: ([path]) => path,
      maxLength: 12,
    })
    fc.assert(
      fc.property(build, build, (before, after) => {
        const matched = matchFiles(makeManifest(files(...before)), makeManifest(files(...after)))
        const paths = (side: 'before' | 'after'): string[] =>
          matched.flatMap((file) => file[side]?.path ?? []).toSorted()
        expect(paths('before')).toEqual(before.map(([path]) => path).toSorted())
        expect(paths('after')).toEqual(after.map(([path]) => path).toSorted())
      }),
    )
  })

  test('matches every stem after all hashes change, for any hash length', () => {
    const stem = fc.stringMatching(/^assets\/[a-z-]{1,12}\[hash\]\.(?:js|css)$/)
    const chunk = fc.record({ stem, size: fc.integer({ min: 1, max: 1_000_000 }) })
    const chunks = fc.uniqueArray(chunk, { selector: (each) => each.stem, maxLength: 20 })
    const hash = fc.stringMatching(/^[\w-]{1,22}$/)
    fc.assert(
      fc.property(chunks, hash, hash, (all, one, other) => {
        const named = (text: string, growth: number): FileSketch[] =>
          all.map(({ stem: name, size }) => ({
            path: name.replace('[hash]', `.${text}`),
            stem: name,
            size: size + growth,
          }))
        const matched = matchFiles(makeManifest(named(one, 0)), makeManifest(named(other, 20)))
        expect(matched).toHaveLength(all.length)
        expect(matched.every(({ before, after }) => before?.stem === after?.stem)).toBe(true)
        expect(matched.every(({ before, after }) => after?.size === (before?.size ?? 0) + 20)).toBe(true)
      }),
    )
  })
})
