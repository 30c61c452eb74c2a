import parsePolicy from 'content-security-policy-parser'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type BuildPolicy,
  countingPolicyRules,
  createContentSecurityPolicy,
  type PagePolicy,
  policyFieldName,
  type PolicyRules,
} from './content-security-policy.ts'
import { checkServingRules } from './check-serving-rules.ts'
import { isFieldValue } from './field-grammar.ts'
import { policyDirectives } from './policy-directives.ts'

const a = `sha256-${'a'.repeat(43)}=`
const b = `sha256-${'b'.repeat(43)}=`
const c = `sha256-${'c'.repeat(43)}=`
const page: PagePolicy = { scripts: [a], styles: [b], styleAttributes: [c], scriptAttributes: [a] }
const origins = new Map([['API', 'https://api.example']])

function policyOf(
  rules: PolicyRules | readonly PolicyRules[],
  of?: PagePolicy,
  build: BuildPolicy = {},
): string {
  const list = [rules].flat()
  return createContentSecurityPolicy({ rules: list, build, originOf: (name) => origins.get(name) })(of)
}

function sourcesOf(policy: string, directive: string): readonly string[] | undefined {
  return parsePolicy(policy).get(directive)
}

describe('createContentSecurityPolicy', () => {
  test('starts with the default directives and adds the hashes of the page', () => {
    expect(policyOf([], page)).toBe(
      `default-src 'self'; script-src 'self' '${a}'; style-src 'self' '${b}'; style-src-attr 'unsafe-hashes' '${c}'; img-src 'self' data:; font-src 'self' data:; form-action 'self'; object-src 'none'; base-uri 'self'; frame-ancestors 'self'`,
    )
  })

  test('permits event handlers only with the switch `attributes`', () => {
    expect(sourcesOf(policyOf({ attributes: true }, page), 'script-src-attr')).toEqual([
      "'unsafe-hashes'",
      `'${a}'`,
    ])
    expect(sourcesOf(policyOf({}, page), 'script-src-attr')).toBeUndefined()
  })

  test.each<[string, PolicyRules | readonly PolicyRules[], string, readonly string[] | undefined]>([
    ['adds sources', { 'img-src': ['https:', 'data:'] }, 'img-src', ["'self'", 'data:', 'https:']],
    ['removes a directive', { 'img-src': null }, 'img-src', undefined],
    ['keeps only none', { 'img-src': ["'none'"] }, 'img-src', ["'none'"]],
    ['replaces none by a source', { 'object-src': ['https:'] }, 'object-src', ['https:']],
    [
      'merges several rules',
      [{ 'connect-src': ["'self'"] }, { 'connect-src': ['wss:'] }],
      'connect-src',
      ["'self'", 'wss:'],
    ],
    ['starts again after null', [{ 'img-src': null }, { 'img-src': ['https:'] }], 'img-src', ['https:']],
    [
      'applies a stronger none',
      [{ 'img-src': ['https:'] }, { 'img-src': ["'none'"] }],
      'img-src',
      ["'none'"],
    ],
    ['sends an origin', { 'connect-src': [{ env: 'API' }] }, 'connect-src', ['https://api.example']],
    ['allows nothing if no value is set', { 'connect-src': [{ env: 'NONE' }] }, 'connect-src', ["'none'"]],
    [
      'adds hashes to the directive for elements',
      { 'script-src-elem': ['https:'] },
      'script-src-elem',
      ['https://cdn.example', 'https:', `'${a}'`],
    ],
    ['adds hashes to the fallback directive', { 'script-src': null }, 'default-src', ["'self'", `'${a}'`]],
    [
      'adds no hashes without a restriction',
      { 'script-src': null, 'default-src': null },
      'default-src',
      undefined,
    ],
    ['adds no hashes next to none', { 'script-src': ["'none'"] }, 'script-src', ["'none'"]],
    [
      'adds no hashes next to unsafe-inline',
      { 'style-src': ["'unsafe-inline'"] },
      'style-src',
      ["'self'", "'unsafe-inline'"],
    ],
    [
      'adds no hashes of attributes next to unsafe-inline',
      { 'style-src': ["'unsafe-inline'"] },
      'style-src-attr',
      undefined,
    ],
    [
      'merges hashes of attributes',
      { 'style-src-attr': ["'unsafe-hashes'", `'${a}'`] },
      'style-src-attr',
      ["'unsafe-hashes'", `'${a}'`, `'${c}'`],
    ],
    [
      'copies hashes to the directive for attributes',
      { 'style-src': ["'unsafe-hashes'", `'${a}'`] },
      'style-src-attr',
      ["'unsafe-hashes'", `'${a}'`, `'${c}'`],
    ],
    ['sends directives without sources', { sandbox: [] }, 'sandbox', []],
    [
      'omits directives that report-only policies do not support',
      { sandbox: [], reportOnly: true },
      'sandbox',
      undefined,
    ],
  ])('%s', (_what, rules, directive, sources) => {
    expect(sourcesOf(policyOf(rules, page, { 'script-src': ['https://cdn.example'] }), directive)).toEqual(
      sources,
    )
  })

  test.each<[PolicyRules, readonly string[] | undefined]>([
    [{}, ["'unsafe-hashes'", `'${a}'`]],
    [{ 'style-src': ["'unsafe-inline'"] }, undefined],
    [
      { 'style-src': ["'unsafe-inline'"], 'style-src-attr': [`'${b}'`] },
      ["'unsafe-hashes'", `'${a}'`, `'${b}'`],
    ],
  ])('adds the sources of the build for attributes to %j without a new restriction', (rules, sources) => {
    const build = { 'style-src-attr': ["'unsafe-hashes'", `'${a}'`] }
    expect(sourcesOf(policyOf(rules, {}, build), 'style-src-attr')).toEqual(sources)
  })

  const hashes = fc.uniqueArray(fc.constantFrom(a, b, c))
  const pages: fc.Arbitrary<PagePolicy> = fc.record({
    scripts: hashes,
    styles: hashes,
    styleAttributes: hashes,
    scriptAttributes: hashes,
  })
  const source = fc.constantFrom(
    "'self'",
    'data:',
    'https:',
    '*',
    'https://cdn.example/a%3Bb',
    "'none'",
    "'unsafe-inline'",
    "'unsafe-hashes'",
    `'${a}'`,
    'allow-scripts',
    'csp',
    '/csp',
    "'script'",
    'lit',
  )
  const sources = fc.option(
    fc.uniqueArray(fc.oneof(source, fc.record({ env: fc.constantFrom('API', 'NONE') })), { maxLength: 4 }),
  )
  const rule = fc.record(
    {
      attributes: fc.boolean(),
      reportOnly: fc.boolean(),
      ...Object.fromEntries(policyDirectives.map((name) => [name, sources])),
    },
    { requiredKeys: [] },
  )
  const valid: fc.Arbitrary<PolicyRules> = rule.map((csp) => {
    // Removes sources that are invalid alone.
    const kept = Object.entries(csp).filter(([name, value]) =>
      isTaken({ [name]: value, 'worker-src': ["'self'"] }),
    )
    return Object.fromEntries(kept)
  })
  const build = fc.constantFrom<BuildPolicy>(
    {},
    { 'script-src': ["'wasm-unsafe-eval'"], 'worker-src': ["'self'", 'blob:'] },
  )

  test('creates a policy that another library parses as intended, for any rules', () => {
    fc.assert(
      fc.property(fc.array(valid, { maxLength: 3 }), build, pages, (rules, needed, of) => {
        const policy = policyOf(rules, of, needed)
        expect(isFieldValue(policy)).toBe(true)
        const read = parsePolicy(policy)
        expect([...read].map(([name, list]) => [name, ...list].join(' ')).join('; ')).toBe(policy)
        for (const [name, list] of read) {
          expect(policyDirectives).toContain(name)
          expect(new Set(list).size).toBe(list.length)
          expect(!list.includes("'none'") || list.length === 1).toBe(true)
        }
        for (const [kind, names] of asked) {
          const list = names.map((name) => read.get(name)).find((found) => found !== undefined)
          if (list === undefined || list.includes("'none'") || list.includes("'unsafe-inline'")) continue
          for (const hash of of[kind] ?? []) expect(list).toContain(`'${hash}'`)
        }
      }),
    )
  })
})

const asked = [
  ['scripts', ['script-src-elem', 'script-src', 'default-src']],
  ['styles', ['style-src-elem', 'style-src', 'default-src']],
  ['styleAttributes', ['style-src-attr', 'style-src', 'default-src']],
] as const

function isTaken(csp: object): boolean {
  try {
    checkServingRules({ csp }, '')
    return true
  } catch {
    return false
  }
}

describe('countingPolicyRules', () => {
  test.each<[readonly (boolean | PolicyRules | undefined)[], readonly PolicyRules[] | undefined]>([
    [[], undefined],
    [[undefined, true], []],
    [[true, undefined], []],
    [[{ reportOnly: true }, false], undefined],
    [[{ reportOnly: true }, true], [{ reportOnly: true }]],
    [[false, { attributes: true }], [{ attributes: true }]],
  ])('returns the effective rules of %j', (said, counting) => {
    expect(countingPolicyRules(said)).toEqual(counting)
  })
})

describe('policyFieldName', () => {
  test('follows the strongest rule', () => {
    expect(policyFieldName([])).toBe('Content-Security-Policy')
    expect(policyFieldName([{ reportOnly: true }, {}])).toBe('Content-Security-Policy-Report-Only')
    expect(policyFieldName([{ reportOnly: true }, { reportOnly: false }])).toBe('Content-Security-Policy')
  })
})
