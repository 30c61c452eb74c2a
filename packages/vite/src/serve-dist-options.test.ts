import { OperatorError } from '@serve-dist/manifest'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { resolveServeDistOptions } from './serve-dist-options.ts'

describe('resolveServeDistOptions', () => {
  test('accepts all options of the plugin', () => {
    const precompress = {
      include: ['**'],
      exclude: ['**/*.map'],
      codings: ['br'],
      minimumSize: 100,
      bytesInFlight: 1e6,
      cache: false,
      cacheSize: 1e9,
      durable: false,
      serving: { prefer: 'smallest', earlyHints: true },
    } as const
    const resolved = resolveServeDistOptions({
      ...precompress,
      pass: false,
      preload: { fonts: true },
      budgets: ['assets/*.js=150kb:br'],
    })
    expect(resolved).toEqual({
      precompress,
      pass: false,
      preload: { fonts: true },
      budgets: [{ text: 'assets/*.js=150kb:br', files: 'assets/*.js', limit: 150_000, column: 'br' }],
    })
  })

  test('accepts sizes with units', () => {
    const { precompress } = resolveServeDistOptions({ minimumSize: '1kb', cacheSize: '1g' })
    expect(precompress).toEqual({ minimumSize: 1000, cacheSize: 1024 ** 3 })
  })

  test('adds the defaults', () => {
    expect(resolveServeDistOptions({})).toEqual({
      precompress: {},
      preload: { fonts: false },
      budgets: [],
      pass: true,
    })
    expect(resolveServeDistOptions({ preload: false }).preload).toBe(false)
    expect(resolveServeDistOptions({ preload: {} }).preload).toEqual({ fonts: false })
  })

  test.each([
    [{ base: '/' }, /^serveDist option "base": unknown option\. Valid options: include, /],
    [{ linksOf: () => [] }, /^serveDist option "linksOf": unknown option\./],
    [
      { minimumSiz: 1 },
      /^serveDist option "minimumSiz": unknown option\. Did you mean "minimumSize"\? Other settings come/,
    ],
    [{ Budget: [] }, /^serveDist option "Budget": unknown option\. Did you mean "budgets"\?/],
    [
      { immutable: [] },
      /^serveDist option "immutable": unknown option\. Did you mean serving: \{ immutable \}\?$/,
    ],
    [
      { outDir: 'x' },
      /^serveDist option "outDir": unknown option\. Valid options: include, .* Vite's configuration\.$/,
    ],
    [null, /^serveDist options: expected an object such as \{ minimumSize: '2kb' \}, found null$/],
    ['br', /^serveDist options: expected an object .*, found "br"$/],
    [[], /^serveDist options: expected an object .*, found \[\]$/],
    [() => {}, /^serveDist options: expected an object .*, found a function$/],
    [{ minimumSize: -1 }, /^serveDist option "minimumSize"/],
    [{ codings: ['deflate'] }, /^serveDist option "codings"/],
    [
      { serving: { header: {} } },
      /^serveDist option serving\.header: unknown rule\. Did you mean "headers"\?$/,
    ],
    [
      { serving: { csp: { 'connect-src': [{ env: 'API_URI' }] } }, env: { API_URL: {} } },
      /^serveDist option serving\.csp\["connect-src"\]: the plugin's option env does not list "API_URI"\. Did you mean "API_URL"\?$/,
    ],
    [
      { serving: { csp: { 'connect-src': [{ env: 'API_URL' }] } } },
      /^serveDist option .*: the plugin's option env does not list "API_URL"\. Add it to this option\.$/,
    ],
    [
      { serving: { csp: true, headers: { '**': { 'Content-Security-Policy': 'x' } } } },
      /^serveDist option serving\.headers\["\*\*"\]\["Content-Security-Policy"\]: the rule csp sets this field/,
    ],
    [{ serving: { prefer: 'br' } }, /^serveDist option serving\.prefer: expected one of "order", "smallest"/],
    [{ cache: '/tmp' }, /^serveDist option "cache"/],
    [{ preload: true }, /^serveDist option "preload": expected false or/],
    [{ preload: null }, /^serveDist option "preload": expected false or/],
    [{ preload: { font: true } }, /^serveDist option "preload": expected false or/],
    [
      { budgets: 'total=1kb' },
      /^serveDist option "budgets": expected a list .+, found a string\. Write \["total=1kb"\]\.$/,
    ],
    [
      { include: '*.js' },
      /^serveDist option "include": expected a list .+, found a string\. Write \["\*\.js"\]\.$/,
    ],
    [
      { serving: { immutable: 'a/**' } },
      /serving\.immutable: expected a list, found a string\. Write \["a\/\*\*"\]\.$/,
    ],
    [{ minimumSize: 'big' }, /^serveDist option "minimumSize": expected a size such as .+, found "big"$/],
    [{ budgets: ['total=much'] }, /^serveDist budget "total=much": "much" is not a size/],
  ])('rejects %j', (options, expected) => {
    // JavaScript callers can pass values that the types forbid.
    const resolve = (): unknown => Reflect.apply(resolveServeDistOptions, undefined, [options])
    expect(resolve).toThrow(OperatorError)
    expect(resolve).toThrow(expected)
  })

  test('throws an error that prints its message once and no stack', () => {
    const thrown = ((): unknown => {
      try {
        return resolveServeDistOptions({ minimumSize: -1, codings: [] })
      } catch (error) {
        return error
      }
    })()
    const message = /^\[?OperatorError: serveDist option "minimumSize": expected [^\n]+, found -1\]?$/
    expect(inspect(thrown)).toMatch(
      /^\[OperatorError: serveDist option "minimumSize": expected [^\n]+, found -1\] \{\s+code: 'SD_OPTION_INVALID'\s+\}$/,
    )
    expect(thrown).toHaveProperty('stack', expect.stringMatching(message))
  })

  test('reports all problems at once', () => {
    const options = { nonsense: 1, minimumSize: -1, budgets: ['x', 'y'], preload: 1 }
    expect(() => resolveServeDistOptions(options as object)).toThrow(/^(?:[^\n]+\n){4}[^\n]+$/)
  })
})
