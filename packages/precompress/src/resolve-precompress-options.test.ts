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
  test('fills in the defaults', () => {
    expect(resolvePrecompressOptions({})).toMatchObject({
      include: ['**'],
      exclude: [],
      base: '/',
      appType: undefined,
      codings: ['zstd', 'br', 'gzip'],
      minimumSize: 256,
      bytesInFlight: 67_108_864,
    })
  })

  test('puts the codings in order, each once', () => {
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
    [{ minimumSize: 1.5 }, 'option "minimumSize": expected a whole number of bytes, found 1.5'],
    [{ bytesInFlight: 0 }, 'option "bytesInFlight": expected a whole number of bytes, at least 1, found 0'],
    [
      { serving: { earlyhints: true } },
      'option serving.earlyhints: there is no such rule; did you mean "earlyHints"?',
    ],
    [{ linksOf: [] }, 'option "linksOf": expected a function, found []'],
    [{ treshold: 1 }, 'option "treshold": unknown; the options are include, '],
  ])('refuses %j', (options, expected) => {
    const problems = problemsOf(options)
    expect(problems).toHaveLength(1)
    expect(problems[0]?.startsWith(expected)).toBe(true)
  })

  test('takes patterns that begin with an extended one', () => {
    const patterns = { include: ['**', '!**/*.map'], exclude: ['!(keep).map', 'drafts/!(keep)/**'] }
    expect(resolvePrecompressOptions(patterns)).toMatchObject(patterns)
  })

  test('lists all problems at once', () => {
    expect(problemsOf({ base: '', minimumSize: -1, x: 1 })).toHaveLength(3)
  })

  test.each(['/', '/app/', '/a/b/', '/grün/', '/my app/'])('takes the base %s', (base) => {
    expect(problemsOf({ base })).toEqual([])
  })
})
