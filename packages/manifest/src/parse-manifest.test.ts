import { OperatorError } from './operator-error.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contentCodings } from './content-coding.ts'
import type { Manifest } from './manifest.ts'
import { parseManifest } from './parse-manifest.ts'
import { pathProblem } from './path-problem.ts'
import { stringifyManifest } from './stringify-manifest.ts'
import { variantPath } from './variant-path.ts'

const digest = 'a'.repeat(64)
const valid: Manifest = {
  version: 1,
  buildId: 'b'.repeat(32),
  base: '/app/',
  appType: 'spa',
  assetsDirectory: 'assets',
  lastModified: '2026-01-31T12:00:00Z',
  selection: { include: ['**'], exclude: ['drafts/**'] },
  files: [
    {
      path: 'assets/index-BX1.js',
      stem: 'assets/index-[hash].js',
      mediaType: 'text/javascript; charset=utf-8',
      size: 4096,
      sha256: digest,
      cache: 'immutable',
      lastModified: '2026-01-31T12:00:00Z',
      variants: [
        { coding: 'zstd', size: 1024, sha256: digest },
        { coding: 'br', size: 1000, sha256: digest },
      ],
    },
    {
      path: 'index.html',
      mediaType: 'text/html; charset=utf-8',
      size: 300,
      sha256: digest,
      cache: 'revalidate',
      lastModified: '2026-01-31T12:00:00Z',
      variants: [],
    },
  ],
}

/**
 * Returns `valid` as JSON with one value replaced. The path is, for example, `files.0.size`. `undefined` removes the
 * value.
 */
function withValue(path: string, value: unknown): string {
  const document: unknown = structuredClone(valid)
  const keys = path.split('.')
  const last = keys.pop() ?? ''
  let holder: unknown = document
  for (const key of keys) holder = Reflect.get(Object(holder), key)
  Reflect.set(Object(holder), last, value)
  return JSON.stringify(document)
}

function problemsOf(text: string): readonly string[] {
  try {
    parseManifest(text)
  } catch (error) {
    if (error instanceof OperatorError) return error.problems
    throw error
  }
  return []
}

describe('parseManifest', () => {
  test.each([
    ['index.html', [], ['$.files[1].runtime: expected true for "index.html", found false']],
    ['index.html', [0, 1], ['$.files[0].runtime: expected false for "assets/index-BX1.js", found true']],
    [undefined, [1], ['$.files[1].runtime: expected false for "index.html", found true']],
    ['elsewhere.js', [], []],
  ])(
    'permits the runtime mark only for the environment module %j, with marks at %j',
    (path, marked, problems) => {
      const environment = path === undefined ? undefined : { path, prefix: '', variables: {} }
      const files = valid.files.map((file, index) => ({
        ...file,
        ...(marked.includes(index) && { runtime: true }),
      }))
      expect(problemsOf(JSON.stringify({ ...valid, environment, files }))).toEqual(problems)
    },
  )

  test('parses the output of stringifyManifest', () => {
    expect(parseManifest(stringifyManifest(valid))).toEqual(valid)
  })

  test('ignores unknown fields', () => {
    const document = { ...valid, future: 1, files: valid.files.map((file) => ({ ...file, alsoFuture: [] })) }
    expect(parseManifest(JSON.stringify(document))).toEqual(valid)
  })

  test('parses a manifest of earlier releases without stems and selection', () => {
    const { selection: _, ...others } = valid
    const old = { ...others, files: valid.files.map(({ stem: _stem, ...file }) => file) }
    expect(parseManifest(stringifyManifest(old))).toEqual(old)
  })

  test('rejects another version and gives the fix', () => {
    const problems = problemsOf(withValue('version', 2))
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(/^\$\.version: expected version 1, found 2\. Build and serve/)
  })

  test.each(['', '{', 'null', '[]', '"x"', '12'])('rejects the text %j', (text) => {
    expect(problemsOf(text)).toHaveLength(1)
  })

  test.each([
    ['buildId', 'XYZ', '$.buildId'],
    ['buildId', undefined, '$.buildId'],
    ['base', 'app/', '$.base'],
    ['base', '/a//b/', '$.base'],
    ['base', '//evil/', '$.base'],
    ['base', '/a\tb/', '$.base'],
    ['appType', 'php', '$.appType'],
    ['assetsDirectory', '../up', '$.assetsDirectory'],
    ['assetsDirectory', '.serve-dist', '$.assetsDirectory'],
    ['lastModified', 'yesterday', '$.lastModified'],
    ['lastModified', '2026-99-99T12:00:00Z', '$.lastModified'],
    ['selection', [], '$.selection'],
    ['selection.include', '**', '$.selection.include'],
    ['selection.exclude', ['a', ''], '$.selection.exclude[1]'],
    ['files.0.stem', 'assets/index.js', '$.files[0].stem'],
    ['files.0.stem', '../[hash].js', '$.files[0].stem'],
    ['files', {}, '$.files'],
    ['files.0', null, '$.files[0]'],
    ['files.0.path', '../secret', '$.files[0].path'],
    ['files.0.path', '/etc/passwd', '$.files[0].path'],
    ['files.0.path', '.env', '$.files[0].path'],
    ['files.0.path', 'a/.git/config', '$.files[0].path'],
    ['files.0.path', 'a\\b', '$.files[0].path'],
    ['files.0.path', 'a\u0000b', '$.files[0].path'],
    ['files.0.path', '', '$.files[0].path'],
    ['files.0.mediaType', 'text/html\r\nx: y', '$.files[0].mediaType'],
    ['files.0.mediaType', 'html', '$.files[0].mediaType'],
    ['files.0.mediaType', 'text/plain; x="\u0100"', '$.files[0].mediaType'],
    ['files.0.mediaType', 'text/plain; x="ü"', '$.files[0].mediaType'],
    ['files.0.size', -1, '$.files[0].size'],
    ['files.0.size', 1.5, '$.files[0].size'],
    ['files.0.size', '12', '$.files[0].size'],
    ['files.0.size', 2 ** 53, '$.files[0].size'],
    ['files.0.sha256', 'A'.repeat(64), '$.files[0].sha256'],
    ['files.0.cache', 'forever', '$.files[0].cache'],
    ['files.0.variants', undefined, '$.files[0].variants'],
    ['files.0.variants.1.coding', 'deflate', '$.files[0].variants[1].coding'],
    ['files.0.variants.1.size', null, '$.files[0].variants[1].size'],
    ['files.0.variants.1.sha256', 1, '$.files[0].variants[1].sha256'],
  ])('names the JSON path of %s = %j', (path, value, place) => {
    expect(
      problemsOf(withValue(path, value)).some((problem) => problem.startsWith(`${place}: expected`)),
    ).toBe(true)
  })

  test('parses the links of a page, and names the JSON path of an invalid one', () => {
    const links = [
      { path: 'assets/index-BX1.js', rel: 'modulepreload', inDocument: true },
      { path: 'theme.css', rel: 'preload', as: 'style', crossorigin: true, inDocument: false },
    ]
    expect(parseManifest(withValue('files.1.links', links)).files[1]).toMatchObject({ links })
    const wrong = [{ path: '../a', rel: 'prefetch', as: 'image', crossorigin: 'anonymous' }]
    expect(problemsOf(withValue('files.1.links', wrong)).map((problem) => problem.split(':')[0])).toEqual(
      ['path', 'rel', 'as', 'crossorigin', 'inDocument'].map((name) => `$.files[1].links[0].${name}`),
    )
  })

  test('lists all problems', () => {
    const document: unknown = JSON.parse(withValue('base', 'x'))
    Reflect.set(Object(document), 'appType', 7)
    expect(problemsOf(JSON.stringify(document))).toHaveLength(2)
  })

  test('rejects duplicate paths, and a file with the name of a variant', () => {
    const [script, page] = valid.files
    expect(problemsOf(JSON.stringify({ ...valid, files: [page, page] }))).toEqual([
      '$.files[1]: "index.html" is already the name of $.files[0]',
    ])
    const clash = { ...page, path: 'assets/index-BX1.js.br' }
    expect(problemsOf(JSON.stringify({ ...valid, files: [script, clash] }))).toEqual([
      '$.files[1]: "assets/index-BX1.js.br" is already the name of $.files[0]',
    ])
  })

  test('accepts a file that equals a variant with the same name', () => {
    const [script, page] = valid.files
    const compressed = { ...page, path: 'assets/index-BX1.js.br', size: 1000 }
    expect(problemsOf(JSON.stringify({ ...valid, files: [script, compressed] }))).toEqual([])
    const other = { ...compressed, sha256: 'f'.repeat(64) }
    expect(problemsOf(JSON.stringify({ ...valid, files: [script, other] }))).toHaveLength(1)
    expect(problemsOf(JSON.stringify({ ...valid, files: [script, compressed, compressed] }))).toHaveLength(1)
  })

  test('rejects a duplicate coding', () => {
    expect(problemsOf(withValue('files.0.variants.1.coding', 'zstd'))).toHaveLength(1)
  })

  test('rejects exactly the files with duplicate or unsorted names', () => {
    const [script] = valid.files
    const file = fc.record({
      path: fc.constantFrom('a', 'a.br', 'a.br.gz', 'b', 'b.zst'),
      codings: fc.array(fc.constantFrom(...contentCodings.map(({ name }) => name)), { maxLength: 2 }),
    })
    fc.assert(
      fc.property(fc.array(file, { maxLength: 4 }), (list) => {
        const files = list.map(({ path, codings }) => ({
          ...script,
          path,
          variants: codings.map((coding) => ({ coding, size: 1, sha256: 'a'.repeat(64) })),
        }))
        const paths = list.map(({ path }) => path)
        const names = list.flatMap(({ path, codings }) => [
          path,
          ...codings.map((coding) => variantPath(path, coding)),
        ])
        const isRight = new Set(names).size === names.length && paths.join() === paths.toSorted().join()
        expect(problemsOf(JSON.stringify({ ...valid, files })).length === 0).toBe(isRight)
      }),
    )
  })

  test('rejects unsorted files', () => {
    expect(problemsOf(JSON.stringify({ ...valid, files: valid.files.toReversed() }))[0]).toMatch(
      /sorted by path/,
    )
  })

  test('does not read a missing field from a prototype', () => {
    expect(problemsOf('{"__proto__":{"version":1}}')[0]).toMatch(/^\$\.version/)
  })

  test('returns a manifest or throws an OperatorError for any JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(problemsOf(text).length).toBeGreaterThan(0)
      }),
    )
    fc.assert(
      fc.property(fc.constantFrom(...placesOf(valid)), fc.jsonValue(), (path, value) => {
        problemsOf(withValue(path, value))
      }),
    )
  })

  test('parses every manifest that can be written', () => {
    const date = fc
      .date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
      .map((value) => value.toISOString().replace(/\.\d+Z$/, 'Z'))
    const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 })
    const size = fc.maxSafeNat()
    const path = fc
      .string({ unit: 'binary', minLength: 1 })
      .filter((text) => pathProblem(text) === undefined && !/\.(zst|br|gz)$/.test(text))
    const file = fc.record({
      path,
      mediaType: fc.constantFrom('text/html; charset=utf-8', 'image/svg+xml', 'application/wasm'),
      size,
      sha256: hex,
      cache: fc.constantFrom('immutable' as const, 'revalidate' as const),
      lastModified: date,
      variants: fc
        .subarray(contentCodings.map(({ name }) => name))
        .chain((codings) =>
          fc.tuple(...codings.map((coding) => fc.record({ coding: fc.constant(coding), size, sha256: hex }))),
        ),
    })
    const files = fc
      .uniqueArray(file, { selector: ({ path: name }) => name, maxLength: 6 })
      .map((list) => list.toSorted((a, b) => (a.path < b.path ? -1 : 1)))
    fc.assert(
      fc.property(files, date, (list, lastModified) => {
        const manifest: Manifest = { ...valid, lastModified, files: list }
        expect(parseManifest(stringifyManifest(manifest))).toEqual(manifest)
      }),
    )
  })
})

function placesOf(value: unknown, prefix = ''): string[] {
  if (typeof value !== 'object' || value === null) return [prefix]
  const inner = Object.entries(value).flatMap(([key, item]) =>
    placesOf(item, prefix === '' ? key : `${prefix}.${key}`),
  )
  return prefix === '' ? inner : [prefix, ...inner]
}
