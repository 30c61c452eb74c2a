import { OperatorError } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { resolvePrecompressOptions } from './resolve-precompress-options.ts'

function problemsOf(options: object): readonly string[] {
  try {
    resolvePrecompressOptions(options)
  } catch (error) {
    if (error instanceof OperatorError) return error.problems
    throw error
  }
  return []
}

describe('resolvePrecompressOptions', () => {
  test('returns the defaults', () => {
    const resolved = resolvePrecompressOptions({})
    expect(resolved.appType).toBeUndefined()
    expect(resolved).toMatchObject({
      include: ['**'],
      exclude: [],
      base: '/',
      codings: ['zstd', 'br', 'gzip'],
      minimumSize: 256,
      bytesInFlight: 67_108_864,
    })
  })

  test('sorts the codings and removes duplicates', () => {
    expect(resolvePrecompressOptions({ codings: ['gzip', 'br', 'gzip'] }).codings).toEqual(['br', 'gzip'])
    expect(resolvePrecompressOptions({ codings: [] }).codings).toEqual([])
  })

  test.each([
    [{ include: 'assets' }, 'option "include": expected a list of glob patterns'],
    [{ include: ['/abs'] }, 'option "include": expected a list of glob patterns'],
    [{ include: ['../up'] }, 'option "include": expected a list of glob patterns'],
    [{ exclude: [''] }, 'option "exclude": expected a list of glob patterns'],
    [{ include: [] }, 'option "include": expected a list of glob patterns'],
    [{ include: ['!**/*.map'] }, 'option "include": expected a list of glob patterns'],
    [{ exclude: ['**/*.map', '!keep.map'] }, 'option "exclude": expected a list of glob patterns'],
    [{ base: 'app/' }, 'option "base": expected a path that begins and ends with "/"'],
    [{ base: '//evil/' }, 'option "base": expected a path that begins and ends with "/"'],
    [{ appType: 'ssr' }, 'option "appType": expected one of "spa", "mpa", "custom", found "ssr"'],
    [{ assetsDirectory: 'assets/' }, 'option "assetsDirectory": expected a relative folder'],
    [{ isHashed: true }, 'option "isHashed": expected a function, found true'],
    [
      { codings: ['deflate'] },
      'option "codings": expected a list of "zstd", "br", "gzip", found ["deflate"]',
    ],
    [{ minimumSize: 1.5 }, 'option "minimumSize": expected a size such as 65536, 64k or 1.5 MB, found 1.5'],
    [
      { bytesInFlight: 0 },
      'option "bytesInFlight": expected a size such as 65536, 64k or 1.5 MB, not 0, found 0',
    ],
    [
      { serving: { earlyhints: true } },
      'option serving.earlyhints: unknown rule. Did you mean "earlyHints"?',
    ],
    [{ linksOf: [] }, 'option "linksOf": expected a function, found []'],
    [{ treshold: 1 }, 'option "treshold": unknown option. Valid options: include, '],
  ])('rejects %j', (options, expected) => {
    const problems = problemsOf(options)
    expect(problems).toHaveLength(1)
    expect(problems[0]?.startsWith(expected)).toBe(true)
  })

  test('accepts sizes with units', () => {
    const sizes = { minimumSize: '1kb', bytesInFlight: '1.5 MB', cacheSize: '64m' }
    expect(resolvePrecompressOptions(sizes)).toMatchObject({
      minimumSize: 1000,
      bytesInFlight: 1_500_000,
      cacheSize: 67_108_864,
    })
  })

  test.each([
    ['include', '*.js', ', found a string. Write ["*.js"].'],
    ['exclude', '*.map', ', found a string. Write ["*.map"].'],
    ['codings', 'br', ', found a string. Write ["br"].'],
  ])('reports that %s must be a list', (name, value, end) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(/^option "\w+": expected a list/)])
    expect(problemsOf({ [name]: value })[0]?.endsWith(end)).toBe(true)
  })

  test('accepts patterns that start with an extended pattern', () => {
    const patterns = { include: ['**', '!**/*.map'], exclude: ['!(keep).map', 'drafts/!(keep)/**'] }
    expect(resolvePrecompressOptions(patterns)).toMatchObject(patterns)
  })

  test('reports all problems at once', () => {
    expect(problemsOf({ base: '', minimumSize: -1, x: 1 })).toHaveLength(3)
  })

  test.each(['/', '/app/', '/a/b/', '/grün/', '/my app/'])('accepts the base %s', (base) => {
    expect(problemsOf({ base })).toEqual([])
  })
})
