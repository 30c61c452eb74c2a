import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchPath, parsePathPattern } from '../site/path-pattern.ts'
import { rawTargetPattern, withoutCaptures, writeLocation } from './raw-target-pattern.ts'

describe('rawTargetPattern', () => {
  const literal = fc.constantFrom('a', 'b.c', '/', '%2F', '%5B', 'ü', '(', '+', '$', '|', '^', "'")
  const variable = fc.constantFrom(':x', '*')
  const written = fc
    .array(fc.oneof(literal, variable), { maxLength: 5 })
    .map((parts) => `/${parts.join('')}`)
    // Excluded, because they have no defined meaning: a repeated name, adjacent variables, and a slash after `*`.
    .filter((text) => !/\*.*\*|:x.*:x|(?:\*|:x)(?:\*|:x|\w)|\*\/$/.test(text))

  test('matches the same paths as the server, with the same values', () => {
    fc.assert(
      fc.property(written, fc.array(literal, { maxLength: 6 }), (text, parts) => {
        const form = parsePathPattern(text)
        const path = parsePathPattern(`/${parts.join('')}`)[0] ?? ''
        const ours = matchPath(form, path) ?? (form.at(-2) === '*' ? matchPath(form, `${path}/`) : undefined)
        const found = new RegExp(rawTargetPattern(form), 's').exec(`${path}?q=1`)
        const values = found?.slice(1).map((value) => value ?? '')
        expect(values).toEqual(ours === undefined ? undefined : [...ours.values(), '?q=1'])
      }),
    )
  })

  test('matches characters that clients do not encode', () => {
    const pattern = new RegExp(rawTargetPattern(parsePathPattern('/a[1]|é')))
    expect(pattern.test('/a[1]|%C3%A9')).toBe(true)
    expect(pattern.test('/a%5B1%5d%7c%c3%a9')).toBe(true)
    expect(pattern.test('/a1|%C3%A9')).toBe(false)
  })

  test('can be embedded in another pattern without its groups', () => {
    expect(withoutCaptures(rawTargetPattern(parsePathPattern('/(x)/:id/*')))).toBe(
      String.raw`^/\(x\)/(?:[^/?]+)(?:/(?:[^?]*))?(?:\?.*)?$`,
    )
  })
})

describe('writeLocation', () => {
  test.each([
    ['/old/*', '/new/:splat', '/new/$1$is_args$args'],
    ['/:a/:b', '/:b/:a#top', '/$2/$1$is_args$args#top'],
    ['/x', '/y?z=1', '/y?z=1'],
    ['/x', 'https://other.example/ü $"', 'https://other.example/%C3%BC%20%24%22$is_args$args'],
    ['/:a', '/:a/:unknown', '/$1/:unknown$is_args$args'],
  ])('writes the target of %s to %s', (from, to, location) => {
    expect(writeLocation({ form: parsePathPattern(from), to })).toBe(location)
  })
})
