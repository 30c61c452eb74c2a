import { describe, expect, test } from 'vitest'
import { dictionariesOf } from './dictionaries.ts'
import type { ManifestFile } from './manifest.ts'

const script: ManifestFile = {
  path: 'assets/index-BX1.js',
  stem: 'assets/index-[hash].js',
  mediaType: 'text/javascript; charset=utf-8',
  size: 4096,
  sha256: 'a'.repeat(64),
  cache: 'immutable',
  lastModified: '2026-01-31T12:00:00Z',
  variants: [],
}
const { stem: _stem, ...withoutStem } = script

function onlyOf(file: Partial<ManifestFile>, base = '/'): ReturnType<typeof dictionariesOf> {
  return dictionariesOf({ base, files: [{ ...script, ...file }] })
}

function matchOf(stem: string, base?: string): string | undefined {
  return onlyOf({ stem }, base).get(stem)?.match
}

describe('dictionariesOf', () => {
  test.each<[string, ManifestFile, boolean]>([
    ['a hashed script', script, true],
    ['without a stem', withoutStem, false],
    ['that is revalidated', { ...script, cache: 'revalidate' }, false],
    ['made at a start', { ...script, runtime: true }, false],
    ['of a worker', { ...script, worker: true }, false],
    ['a source map', { ...script, path: 'assets/index-BX1.js.map', mediaType: 'application/json' }, false],
    ['an image', { ...script, mediaType: 'image/png' }, false],
    ['of 511 bytes', { ...script, size: 511 }, false],
    ['of 512 bytes', { ...script, size: 512 }, true],
    ['of 8 MiB', { ...script, size: 8_388_608 }, true],
    ['of more', { ...script, size: 8_388_609 }, false],
  ])('decides whether a file is a dictionary (%s): %#', (_name, file, expected) => {
    expect(dictionariesOf({ base: '/', files: [file] }).size).toBe(expected ? 1 : 0)
  })

  test('selects the larger of two files with one stem', () => {
    const larger = { ...script, path: 'assets/index-BX2.js', size: 5000 }
    expect(
      dictionariesOf({ base: '/', files: [script, larger, script] }).get('assets/index-[hash].js'),
    ).toEqual({
      file: larger,
      match: '/assets/index-*.js',
      destinations: ['script'],
    })
  })

  test('selects at most 300 files, the largest first', () => {
    const files = Array.from({ length: 400 }, (_, index) => ({
      ...script,
      stem: `${index}-[hash].js`,
      size: 1000 + index,
    }))
    const chosen = [...dictionariesOf({ base: '/', files }).values()].map(({ file }) => file.size)
    expect(chosen).toEqual(Array.from({ length: 300 }, (_, index) => 1399 - index))
  })

  test.each<[string, Partial<ManifestFile>, readonly string[]]>([
    ['a script', {}, ['script']],
    ['a style sheet', { mediaType: 'text/css; charset=utf-8' }, ['style']],
    ['another file', { mediaType: 'application/wasm' }, []],
  ])('returns the destinations of %s', (_name, file, expected) => {
    expect(onlyOf(file).get('assets/index-[hash].js')?.destinations).toEqual(expected)
  })

  test.each([
    ['a-[hash].js', '/', '/a-*.js'],
    ['[hash]/[hash].js', '/app/', '/app/*/*.js'],
    ['(group)/a+b*c:d-[hash].js', '/', '/\\(group\\)/a\\+b\\*c*d-*.js'],
    ['a?b{c}d\\e#f%-[hash].js', '/', '/a%3Fb%7Bc%7Dd%5Ce%23f%25-*.js'],
    ['grüße 1-[hash].js', '/ä/', '/%C3%A4/gr%C3%BC%C3%9Fe%201-*.js'],
    ['[id]-[hash].js', '/', '/*id*-*.js'],
  ])('returns the pattern of %s under %s', (stem, base, expected) => {
    expect(matchOf(stem, base)).toBe(expected)
  })

  // Node.js 24 has the same URLPattern as browsers.
  test.runIf('URLPattern' in globalThis)('returns patterns that match the links of browsers', () => {
    for (const character of ' !"$&\'()*+,-.:;<=>@[]^_`{|}~aÄ日😀') {
      const path = `/b/x${character}y`
      const pattern = new URLPattern(matchOf(`x${character}y-[hash].js`, '/b/') ?? '', 'https://h.example/b/')
      const finds = (link: string): boolean => pattern.test(new URL(link, 'https://h.example'))
      expect(pattern.hasRegExpGroups).toBe(false)
      expect([path, encodeURI(path)].map((link) => finds(`${link}-Ab_1-.js`))).toEqual([true, true])
      expect([path, encodeURI(path)].map((link) => finds(`${link}z-Ab_1-.js`))).toEqual([false, false])
    }
  })
})
