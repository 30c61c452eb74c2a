import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { overridesFor } from './field-rules.ts'
import { isImmutable, resolveServing, type ServingSources } from './resolve-serving.ts'

const page = { path: 'guide/a.html', mediaType: 'text/html; charset=utf-8', cache: 'revalidate' } as const
const script = { path: 'assets/a.js', mediaType: 'text/javascript', cache: 'revalidate' } as const

function resolve(sources: Partial<ServingSources>) {
  return resolveServing({ directory: '/build', headersFile: [], redirectsFile: [], rules: [], ...sources })
}

function fieldsOf(sources: Partial<ServingSources>, file: typeof page | typeof script): object {
  const overrides = overridesFor(resolve(sources).fieldRules, file, [`/${file.path}`])
  return Object.fromEntries([...overrides.values()].map(({ name, value }) => [name, value]))
}

describe('resolveServing', () => {
  test('has defaults', () => {
    expect(resolve({})).toMatchObject({
      prefer: 'order',
      fallback: undefined,
      earlyHints: false,
      sourceMaps: 'serve',
      redirects: [],
    })
  })

  test('lets the stronger source win', () => {
    const rules = [{ prefer: 'smallest', fallback: 'spa' } as const, { prefer: 'order' } as const]
    expect(resolve({ rules })).toMatchObject({ prefer: 'order', fallback: 'spa' })
  })

  test('matches globs against the path in the build, with or without a leading slash', () => {
    const serving = resolve({ rules: [{ immutable: ['/assets/**'] }] })
    expect(isImmutable(serving, script)).toBe(true)
    expect(isImmutable(serving, page)).toBe(false)
    expect(isImmutable(serving, { ...page, cache: 'immutable' })).toBe(true)
  })

  test('compiles a hundred globs once for ten thousand files', () => {
    const headers = Object.fromEntries(
      Array.from({ length: 100 }, (_rule, index) => [`section-${index}/*`, { 'X-Section': String(index) }]),
    )
    const files = Array.from({ length: 10_000 }, (_file, index) => ({
      ...script,
      path: `assets/a-${index}.js`,
    }))
    let compiled = 0
    class CountedRegExp extends RegExp {
      constructor(pattern: string, flags?: string) {
        super(pattern, flags)
        compiled += 1
      }
    }
    vi.stubGlobal('RegExp', CountedRegExp)
    onTestFinished(() => void vi.unstubAllGlobals())
    const { fieldRules } = resolve({ rules: [{ headers }] })
    for (const file of files) overridesFor(fieldRules, file, [`/${file.path}`])
    expect(compiled).toBe(100)
  })

  test('orders fields: the security preset, `_headers`, then for each source cache rules before headers', () => {
    const sources: Partial<ServingSources> = {
      headersFile: [{ pattern: '/*', fields: { 'X-Frame-Options': 'DENY', 'X-File': '1' } }],
      rules: [
        { securityHeaders: true, headers: { '**': { 'X-File': '2', 'Cache-Control': 'no-store' } } },
        { cacheControl: { '**/*.js': 'max-age=5' } },
      ],
    }
    expect(fieldsOf(sources, page)).toMatchObject({
      'Referrer-Policy': 'strict-origin-when-cross-origin',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'X-Frame-Options': 'DENY',
      'X-File': '2',
      'Cache-Control': 'no-store',
    })
    expect(fieldsOf(sources, script)).toEqual({
      'Referrer-Policy': 'strict-origin-when-cross-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'X-Frame-Options': 'DENY',
      'X-File': '2',
      'Cache-Control': 'max-age=5',
    })
  })

  test('gives cors precedence over the security preset, but not over `_headers` and headers', () => {
    const opened = {
      'Access-Control-Allow-Origin': '*',
      'Timing-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
    }
    const rules = [{ cors: ['assets/**'], securityHeaders: true }]
    expect(fieldsOf({ rules }, script)).toMatchObject(opened)
    expect(fieldsOf({ rules }, page)).not.toHaveProperty('Access-Control-Allow-Origin')
    const headersFile = [{ pattern: '/*', fields: { 'Access-Control-Allow-Origin': 'https://a.example' } }]
    expect(fieldsOf({ rules, headersFile }, script)).toMatchObject({
      ...opened,
      'Access-Control-Allow-Origin': 'https://a.example',
    })
  })

  test('applies redirects of the stronger source first and those of the file last', () => {
    const { redirects } = resolve({
      redirectsFile: [{ from: '/c', to: '/x' }],
      rules: [{ redirects: [{ from: '/b', to: '/x' }] }, { redirects: [{ from: '/a', to: '/x' }] }],
    })
    expect(redirects.map(({ from }) => from)).toEqual(['/a', '/b', '/c'])
  })

  test('takes each field from the last matching source, for any glob and letter case', () => {
    const name = fc.constantFrom('X-A', 'x-a', 'X-B', 'Cache-Control', 'cache-control')
    const glob = fc.constantFrom(
      '**',
      '/**',
      '*.html',
      '**/*.html',
      'guide/*',
      '/guide/a.html',
      'assets/**',
      'none',
    )
    const source = fc.record({
      headers: fc.dictionary(glob, fc.dictionary(name, fc.constantFrom('1', '2', null))),
      cacheControl: fc.dictionary(glob, fc.constantFrom('max-age=1', 'max-age=2')),
    })
    // The expected matches are literal, so that picomatch does not judge itself.
    const matching = new Set(['**', '/**', '**/*.html', 'guide/*', '/guide/a.html'])
    fc.assert(
      fc.property(fc.array(source, { maxLength: 3 }), (rules) => {
        const expected = new Map<string, string | null>()
        for (const { headers, cacheControl } of rules) {
          const own = [
            ...Object.entries(cacheControl).map(([at, value]) => [at, { 'Cache-Control': value }] as const),
            ...Object.entries(headers),
          ]
          for (const [at, fields] of own) {
            if (!matching.has(at)) continue
            for (const [key, value] of Object.entries(fields)) expected.set(key.toLowerCase(), value)
          }
        }
        const overrides = overridesFor(resolve({ rules }).fieldRules, page, ['/guide/a.html'])
        expect(new Map([...overrides].map(([key, { value }]) => [key, value]))).toEqual(expected)
      }),
    )
  })

  test('accepts any text as a glob', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (glob) => {
        const serving = resolve({
          rules: [{ immutable: [glob], cors: [glob], headers: { [glob]: { 'X-A': '1' } } }],
        })
        const isThere = overridesFor(serving.fieldRules, script, ['/assets/a.js']).has('x-a')
        expect(isImmutable(serving, script)).toBe(isThere)
      }),
      // A leading slash is removed unless it is the whole glob.
      { examples: [['/'], ['//'], ['/\n']] },
    )
  })
})
