import type { EngineTable } from '@serve-dist/engine'
import { describe, expect, test } from 'vitest'
import { createHostMatcher } from '../transport/allow-hosts.ts'
import type { FlatSite } from './engine-table.ts'
import { createHeaderValueCache, type HeaderValueCache } from './header-value-cache.ts'

/** Chooses the length of a value. */
const site: FlatSite = {
  text: new Uint8Array(0),
  index: new Uint32Array(4),
  slabs: [],
  files: [],
  choicesFor: (value = '') => Uint8Array.of(value.length, 1),
  rules: [{ except: [] }, { except: [] }],
}
const other: FlatSite = { ...site, choicesFor: () => Uint8Array.of(7) }

interface Heard {
  readonly cache: HeaderValueCache
  readonly tables: EngineTable[]
  readonly codings: [string, number[]][]
  readonly hosts: string[]
  readonly authorizations: [number, string][]
  forgottenCodings: number
  forgotten: number
}

function listen(isAllowed: (host: string) => boolean = () => true): Heard {
  const engine = {
    setTable: (table: EngineTable) => void heard.tables.push(table),
    learnCoding: (value: string, choices: Uint8Array) => void heard.codings.push([value, [...choices]]),
    forgetCodings: () => void (heard.forgottenCodings += 1),
    learnHost: (value: string) => void heard.hosts.push(value),
    forgetHosts: () => void (heard.forgotten += 1),
    learnAuthorization: (rule: number, value: string) => void heard.authorizations.push([rule, value]),
  }
  const heard: Heard = {
    cache: createHeaderValueCache(engine, isAllowed),
    tables: [],
    codings: [],
    hosts: [],
    authorizations: [],
    forgottenCodings: 0,
    forgotten: 0,
  }
  heard.cache.setAnswers(site)
  return heard
}

function ask({ cache }: Heard, rawHeaders: readonly string[], method = 'GET'): void {
  cache.learn({ method, rawHeaders: [...rawHeaders] })
}

describe('createHeaderValueCache', () => {
  test('passes an accepted Authorization with the number of its rule in the current site', () => {
    const heard = listen()
    const [first, second] = site.rules
    if (first === undefined || second === undefined) throw new Error('the site has two rules')
    heard.cache.learnAuthorization(second, 'Basic b')
    heard.cache.learnAuthorization(second, `Basic ${' '.repeat(300)}b`)
    heard.cache.setAnswers({ ...site, rules: [second] })
    heard.cache.learnAuthorization(second, 'Basic c')
    heard.cache.learnAuthorization(first, 'Basic a')
    expect(heard.authorizations).toEqual([
      [2, 'Basic b'],
      [1, 'Basic c'],
    ])
    expect(heard.tables.at(-1)).not.toHaveProperty('rules')
  })

  test('passes the choice for a value once', () => {
    const heard = listen()
    ask(heard, ['Host', 'a.example', 'Accept-Encoding', 'br'])
    ask(heard, ['host', 'a.example', 'ACCEPT-ENCODING', 'br'], 'HEAD')
    ask(heard, ['Host', 'a.example', 'Accept-Encoding', 'zstd'])
    expect(heard.codings).toEqual([
      ['br', [2, 1]],
      ['zstd', [4, 1]],
    ])
    expect(heard.hosts).toEqual(['a.example'])
  })

  test.each([
    ['another method', ['Host', 'a.example', 'Accept-Encoding', 'br'], 'POST'],
    ['two lines', ['Accept-Encoding', 'br', 'Accept-Encoding', 'gzip'], 'GET'],
    ['an empty value', ['Accept-Encoding', ''], 'GET'],
    ['a long value', ['Accept-Encoding', 'b'.repeat(257)], 'GET'],
    ['octets beyond ASCII', ['Accept-Encoding', 'br\u00E9'], 'GET'],
    ['a malformed host', ['Host', 'a b'], 'GET'],
    ['no field at all', [], 'GET'],
  ])('learns nothing from %s', (_what, rawHeaders, method) => {
    const heard = listen()
    ask(heard, rawHeaders, method)
    expect([heard.codings, heard.hosts]).toEqual([[], []])
  })

  test('learns no host that is not allowed', () => {
    const heard = listen(createHostMatcher(['a.example']))
    for (const host of ['b.example', 'a.example:8080', 'A.example.']) ask(heard, ['Host', host])
    expect(heard.hosts).toEqual(['a.example:8080', 'A.example.'])
  })

  test('passes all known values with the next site, for its own layouts', () => {
    const heard = listen()
    ask(heard, ['Accept-Encoding', 'br'])
    heard.cache.setAnswers(other)
    expect(heard.tables.map(({ codings, choices }) => [codings, [...choices]])).toEqual([
      [[''], [0, 1]],
      [
        ['', 'br'],
        [7, 7],
      ],
    ])
  })

  test('starts over after 256 values or 1,024 hosts', () => {
    const heard = listen()
    for (let number = 0; number < 257; number += 1) ask(heard, ['Accept-Encoding', `br, x${number}`])
    expect(heard.codings).toHaveLength(257)
    expect([heard.forgottenCodings, heard.tables.length]).toEqual([1, 1])
    ask(heard, ['Accept-Encoding', 'br, x0'])
    expect(heard.codings.at(-1)?.[0]).toBe('br, x0')

    for (let number = 0; number < 1024; number += 1) ask(heard, ['Host', `h${number}.example`])
    expect(heard.forgotten).toBe(0)
    ask(heard, ['Host', 'one.more'])
    expect([heard.forgotten, heard.hosts.length]).toEqual([1, 1025])
  })
})
