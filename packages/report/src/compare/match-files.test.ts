import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchFiles } from './match-files.ts'
import { type FileSketch, makeManifest } from '../../test/support/make-manifest.ts'

/** What was matched with what, as `name: before → after`. */
function matches(before: readonly FileSketch[], after: readonly FileSketch[]): string[] {
  return matchFiles(makeManifest(before), makeManifest(after)).map(
    (file) => `${file.name}: ${file.before?.path ?? 'none'} → ${file.after?.path ?? 'none'}`,
  )
}

/** Files that have nothing but a name and a size. */
function files(...entries: readonly (readonly [path: string, size: number])[]): FileSketch[] {
  return entries.map(([path, size]) => ({ path, size }))
}

/** A chunk whose name is nothing but a hash. */
function bareChunk(index: number, letter: string): FileSketch {
  return { path: `assets/${letter}${String(index).padStart(7, '0')}.js`, size: 1000 + index * 7 }
}

describe('matchFiles', () => {
  test('matches the same path first', () => {
    expect(matches(files(['index.html', 10]), files(['index.html', 12]))).toEqual([
      'index.html: index.html → index.html',
    ])
  })

  test.each([
    ['Vite', 'assets/index-DiwrgTda.js', 'assets/index-B1xK_9-z.js', 'assets/index-HASH.js'],
    [
      'a hash that ends in a separator',
      'assets/rt-WkwZ5CU-.js',
      'assets/rt-Ab3dEf9h.js',
      'assets/rt-HASH.js',
    ],
    ['a hash that holds one', 'assets/page-CL-M5r1t.js', 'assets/page-CL-x9Kf2.js', 'assets/page-HASH.js'],
    [
      'a hash whose parts could be hashes',
      'assets/a-abcde1-x.js',
      'assets/a-ghijk2-y.js',
      'assets/a-HASH.js',
    ],
    [
      'webpack',
      'assets/main.0123456789abcdef0123.js',
      'assets/main.fedcba98765432100123.js',
      'assets/main.HASH.js',
    ],
    ['a word after the hash', 'assets/a.12ab34cd.min.js', 'assets/a.98ab34ce.min.js', 'assets/a.HASH.min.js'],
    ['a hash alone', 'assets/12ab34cd.js', 'assets/98ab34ce.js', 'assets/HASH.js'],
    ['a hash as folder', 'assets/12ab34cd/a.js', 'assets/98ab34ce/a.js', 'assets/HASH/a.js'],
    [
      'a word as long as the hash',
      'assets/settings-12ab34cd.js',
      'assets/settings-98ab34ce.js',
      'assets/settings-HASH.js',
    ],
  ])('knows the names of %s', (_, before, after, name) => {
    const [matched, ...others] = matchFiles(makeManifest(files([before, 9])), makeManifest(files([after, 8])))
    expect(others).toEqual([])
    expect(matched?.before?.path).toBe(before)
    expect(matched?.after?.path).toBe(after)
    expect(matched?.name).toBe(name)
  })

  test('does not take a word for a hash where the length of the hashes is known', () => {
    const before = files(['assets/button-primary-AAAA1111.js', 5], ['assets/index-AAAA2222.js', 50])
    const after = files(['assets/button-warning-BBBB1111.js', 5], ['assets/index-BBBB2222.js', 50])
    expect(matches(before, after)).toEqual([
      'assets/button-primary-AAAA1111.js: assets/button-primary-AAAA1111.js → none',
      'assets/button-warning-BBBB1111.js: none → assets/button-warning-BBBB1111.js',
      'assets/index-HASH.js: assets/index-AAAA2222.js → assets/index-BBBB2222.js',
    ])
  })

  test('does not match names that differ in more than a hash', () => {
    const found = matches(files(['assets/index-AAAA1111.css', 5]), files(['assets/about-BBBB1111.css', 5]))
    expect(found).toHaveLength(2)
  })

  test('does not match another extension or another folder', () => {
    const before = files(['assets/a-AAAA1111.js', 5])
    const after = files(['assets/a-BBBB1111.css', 5], ['assets/b/a-BBBB1111.js', 5])
    expect(matches(before, after)).toHaveLength(3)
  })

  test('leaves names alone in which no bundler put a hash', () => {
    const before: FileSketch[] = [{ path: 'assets/photo-20250101.jpg', size: 5, cache: 'revalidate' }]
    const after: FileSketch[] = [{ path: 'assets/photo-20260101.jpg', size: 6, cache: 'revalidate' }]
    expect(matches(before, after)).toHaveLength(2)
  })

  test('tells two chunks of one name apart by their sizes, and shows their own names', () => {
    const before = files(['assets/index-AAAA1111.js', 400], ['assets/index-AAAA2222.js', 90_000])
    const after = files(['assets/index-BBBB1111.js', 90_500], ['assets/index-BBBB2222.js', 390])
    expect(matches(before, after)).toEqual([
      'assets/index-BBBB1111.js: assets/index-AAAA2222.js → assets/index-BBBB1111.js',
      'assets/index-BBBB2222.js: assets/index-AAAA1111.js → assets/index-BBBB2222.js',
    ])
  })

  test('calls the chunk new that no other of its name is near to', () => {
    const before = files(['assets/index-AAAA1111.js', 90_000])
    const after = files(['assets/index-BBBB1111.js', 90_500], ['assets/index-BBBB2222.js', 390])
    expect(matches(before, after)).toContain('assets/index-BBBB2222.js: none → assets/index-BBBB2222.js')
  })

  test('matches equal bytes under another name, whatever the name', () => {
    const before: FileSketch[] = [{ path: 'logo.svg', size: 5, content: 'logo' }]
    const after: FileSketch[] = [{ path: 'images/brand.svg', size: 5, content: 'logo' }]
    expect(matches(before, after)).toEqual(['images/brand.svg: logo.svg → images/brand.svg'])
  })

  test('matches hashes of several lengths in one build', () => {
    const before = files(
      ['assets/a-AAAA1111.js', 1],
      ['assets/b-AAAA2222.js', 2],
      ['assets/x-0123456789ab.woff2', 3],
    )
    const after = files(
      ['assets/a-BBBB1111.js', 4],
      ['assets/b-BBBB2222.js', 5],
      ['assets/x-ba9876543210.woff2', 6],
    )
    expect(matchFiles(makeManifest(before), makeManifest(after)).map(({ name }) => name)).toEqual([
      'assets/a-HASH.js',
      'assets/b-HASH.js',
      'assets/x-HASH.woff2',
    ])
  })

  test.each([
    ['all sizes are one', 0, 0],
    ['every file is larger than before', 1, 100_000],
    ['every file is smaller than before', 1, -100_000],
  ])('is quick where names are nothing but a hash and %s', (_, step, growth) => {
    const ofSize = (letter: string, size: number): FileSketch[] =>
      Array.from({ length: 8000 }, (_file, index) => {
        return { ...bareChunk(index, letter), size: size + step * index }
      })
    const matched = matchFiles(
      makeManifest(ofSize('a', 200_000)),
      makeManifest(ofSize('b', 200_000 + growth)),
    )
    expect(matched).toHaveLength(8000)
  })

  test('pairs the two of nearly one size though others of their kind are far from all', () => {
    const before = files(
      ...Array.from({ length: 40 }, (_, index) => [bareChunk(index, 'a').path, 100 + index] as const),
    )
    const after = files(
      ...Array.from({ length: 40 }, (_, index) => [bareChunk(index, 'b').path, 140 + index * 1000] as const),
    )
    expect(matches(before, after)).toContain('assets/b0000000.js: assets/a0000039.js → assets/b0000000.js')
  })

  test('is quick where thousands of names are nothing but a hash', () => {
    const before = Array.from({ length: 4000 }, (_, index) => bareChunk(index, 'a'))
    const after = Array.from({ length: 4000 }, (_, index) => bareChunk(index, 'b'))
    const matched = matchFiles(makeManifest(before), makeManifest(after))
    expect(matched).toHaveLength(4000)
    expect(matched.every((pair) => pair.before?.size === pair.after?.size)).toBe(true)
  })
})

const hash = (length: number): fc.Arbitrary<string> =>
  fc
    .string({
      unit: fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'),
      minLength: length,
      maxLength: length,
    })
    .filter((text) => /\d/.test(text))
const word = fc.stringMatching(/^[a-z]{1,12}(?:-[a-z]{1,8})?$/)
const chunk = fc.record({
  name: word,
  extension: fc.constantFrom('js', 'css', 'woff2'),
  size: fc.integer({ min: 1, max: 1_000_000 }),
})

describe('matchFiles, whatever the names', () => {
  test('has every file of both builds in exactly one answer', () => {
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

  test('finds every chunk again when all hashes change, for any length of hash', () => {
    const scenario = fc.integer({ min: 6, max: 22 }).chain((length) =>
      fc.record({
        chunks: fc.uniqueArray(chunk, {
          selector: ({ name, extension }) => `${name}.${extension}`,
          minLength: 4,
          maxLength: 20,
        }),
        hashes: fc.uniqueArray(hash(length), { minLength: 40, maxLength: 40 }),
      }),
    )
    fc.assert(
      fc.property(scenario, ({ chunks, hashes }) => {
        const named = (offset: number): FileSketch[] =>
          chunks.map(({ name, extension, size }, index) => ({
            path: `assets/${name}-${hashes[offset + index] ?? ''}.${extension}`,
            size: size + offset,
          }))
        const matched = matchFiles(makeManifest(named(0)), makeManifest(named(20)))
        const wrong = matched.filter(({ before, after }) => before === undefined || after === undefined)
        expect(wrong).toEqual([])
        expect(matched.every((pair) => pair.after?.size === (pair.before?.size ?? 0) + 20)).toBe(true)
      }),
    )
  })
})
