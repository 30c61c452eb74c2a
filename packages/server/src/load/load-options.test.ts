import { describe, expect, test } from 'vitest'
import { type LoadSiteOptions, resolveLoadSiteOptions } from './load-options.ts'

function onWarning(): void {}

describe('resolveLoadSiteOptions', () => {
  test('fills in the defaults', () => {
    expect(resolveLoadSiteOptions({})).toEqual({
      verify: 'size',
      rules: {},
      unlisted: 'refuse',
      noManifest: false,
      onWarning: expect.any(Function),
      memoryBudget: 67_108_864,
      largestBody: Infinity,
    })
  })

  test('parses sizes like the command', () => {
    expect(resolveLoadSiteOptions({ memoryBudget: '1kb', largestBody: '1k' })).toMatchObject({
      memoryBudget: 1000,
      largestBody: 1024,
    })
  })

  test('keeps given options', () => {
    const rules = { prefer: 'smallest' } as const
    const more = { unlisted: 'warn', noManifest: true } as const
    const given = { ...more, verify: 'hash', rules, onWarning, memoryBudget: 0, largestBody: 1 } as const
    expect(resolveLoadSiteOptions(given)).toEqual(given)
  })

  test.each([
    ['{"verify":"md5"}', 'verify: expected one of "size", "hash", found "md5"'],
    ['{"rules":{"prefer":"br"}}', 'rules.prefer: expected one of "order", "smallest", found "br"'],
    ['{"rules":{"perfer":"order"}}', 'rules.perfer: unknown rule. Did you mean "prefer"?'],
    ['{"memoryBudget":-1}', 'memoryBudget: expected a size such as 65536, 64k or 1.5 MB, found -1'],
    ['{"memoryBudget":"64x"}', 'memoryBudget: expected a size such as 65536, 64k or 1.5 MB, found "64x"'],
    ['{"largestBody":null}', 'largestBody: expected a size such as 65536, 64k or 1.5 MB, found null'],
    ['{"rules":{"cors":"*.js"}}', 'rules.cors: expected a list, found a string. Write ["*.js"].'],
  ])('rejects %s', (json, message) => {
    const given: LoadSiteOptions = JSON.parse(json)
    expect(() => resolveLoadSiteOptions(given)).toThrow(
      expect.objectContaining({ code: 'SD_OPTION_INVALID', message }),
    )
  })
})
