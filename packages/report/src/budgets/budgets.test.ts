import { OperatorError } from '@serve-dist/manifest'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { budgetProblems, checkBudgets, describeBudget } from './check-budgets.ts'
import { parseBudgets } from './parse-budgets.ts'
import { makeManifest } from '../../test/support/make-manifest.ts'

const build = makeManifest([
  { path: 'assets/index-AAAA1111.js', size: 90_000, variants: { gzip: 32_000, br: 28_000, zstd: 30_000 } },
  { path: 'assets/vendor-AAAA2222.js', size: 300_000, variants: { gzip: 110_000, br: 90_000, zstd: 95_000 } },
  { path: 'assets/index-AAAA3333.css', size: 5000 },
  { path: '.well-known/change-password', size: 100 },
  { path: 'data/[a]=1.json', size: 700 },
])

function check(text: string) {
  const [result] = checkBudgets(build, parseBudgets([text]))
  if (result === undefined) throw new Error('no result')
  return result
}

function limitOrError(text: string): unknown {
  try {
    return parseBudgets([text])[0]?.limit
  } catch (error) {
    return error
  }
}

describe('parseBudgets', () => {
  test.each([
    ['assets/*.js=150kb:br', { files: 'assets/*.js', limit: 150_000, column: 'br' }],
    ['total=1.5 MB : gzip', { files: 'total', limit: 1_500_000, column: 'gzip' }],
    ['total=64KiB', { files: 'total', limit: 65_536, column: 'sent' }],
    ['a=b/*.js=10', { files: 'a=b/*.js', limit: 10, column: 'sent' }],
    ['**/*.{css,js}=2gib:smallest', { files: '**/*.{css,js}', limit: 2 * 1024 ** 3, column: 'smallest' }],
    ['c:/*.js=0b:identity', { files: 'c:/*.js', limit: 0, column: 'identity' }],
  ])('parses %s', (text, budget) => {
    expect(parseBudgets([text])).toEqual([{ text, ...budget }])
  })

  test.each([
    ['150kb', 'there are no files before "=". Write for example'],
    ['=150kb', 'there are no files before "="'],
    ['total=', '"" is not a size. Write for example 150kb'],
    ['total=150 apples', '"150 apples" is not a size'],
    ['total=-5kb', '"-5kb" is not a size'],
    ['total=5kb:deflate', '"deflate" is not a kind of size. After the colon, write one of identity, gzip'],
    ['total=5kb:br:gzip', '"br:gzip" is not a kind of size'],
  ])('rejects %s and shows an example', (text, message) => {
    expect(() => parseBudgets([text])).toThrow(`budget "${text}": ${message}`)
  })

  test('returns a budget or throws an OperatorError for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a-z*/]+=\d+[a-z]{0,3}(:[a-z]+)?$/)), (text) => {
        expect(limitOrError(text)).toSatisfy((found) => found instanceof OperatorError || Number(found) >= 0)
      }),
    )
  })

  test('names every invalid budget', () => {
    expect(() => parseBudgets(['total=x', 'total=1kb', 'y'])).toThrow(
      /^budget "total=x": .+\nbudget "y": .+$/,
    )
  })
})

describe('checkBudgets', () => {
  test('sums all files of a glob in the given coding', () => {
    expect(check('assets/*.js=150kb:br')).toMatchObject({ outcome: 'within', size: 118_000, over: -32_000 })
    expect(check('assets/*.js=150kb:identity')).toMatchObject({ outcome: 'exceeded', size: 390_000 })
  })

  test('counts the sent size if no coding is given', () => {
    expect(check('assets/*.js=150kb').size).toBe(125_000)
  })

  test('counts the smallest variants if the build prefers them', () => {
    const serving = { prefer: 'smallest' } as const
    const [result] = checkBudgets({ ...build, serving }, parseBudgets(['assets/*.js=150kb']))
    expect(result?.size).toBe(118_000)
  })

  test('counts all files in the total, including dotfiles and files without variants', () => {
    expect(check('total=1mb:identity').size).toBe(395_800)
    expect(check('**=1mb:identity').size).toBe(395_800)
  })

  test('accepts a size that equals the limit', () => {
    expect(check('assets/*.css=5kb').outcome).toBe('within')
    expect(check('assets/*.css=4999').outcome).toBe('exceeded')
  })

  test('fails if a glob matches no file', () => {
    expect(check('asset/*.js=150kb')).toMatchObject({ outcome: 'unmatched', files: [] })
  })

  test('matches names with escaped brackets', () => {
    expect(check(String.raw`data/\[a\]=1.json=1kb`).outcome).toBe('within')
  })
})

describe('describeBudget', () => {
  test('names the largest files and the excess', () => {
    expect(describeBudget(check('assets/*.js=100kb:br'))).toBe(
      'assets/*.js=100kb:br: 118.00 kB br of 100.00 kB, 18.00 kB (+18.0 %) over the limit: assets/vendor-AAAA2222.js 90.00 kB, assets/index-AAAA1111.js 28.00 kB',
    )
  })

  test('never shows an excess of 0 %', () => {
    expect(describeBudget(check('assets/*.js=389999:identity'))).toContain(', 1 B (<0.01 %) over the limit: ')
    expect(describeBudget(check('assets/*.css=5001'))).toContain(', 1 B left')
  })

  test('shows the remaining size', () => {
    expect(describeBudget(check('assets/*.js=150kb:br'))).toContain('32.00 kB left')
  })
})

describe('budgetProblems', () => {
  test('describes only failures', () => {
    const budgets = parseBudgets(['total=1mb', 'total=1kb', 'nothing/**=1kb'])
    expect(budgetProblems(checkBudgets(build, budgets))).toEqual([
      expect.stringContaining('total=1kb: '),
      expect.stringContaining('matches no file of this build'),
    ])
  })
})
