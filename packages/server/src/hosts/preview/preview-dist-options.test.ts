import { describe, expect, test } from 'vitest'
import { resolvePreviewDistOptions } from './preview-dist-options.ts'
import previewDist, { type PreviewDistOptions } from './vite.ts'

describe('resolvePreviewDistOptions', () => {
  test('separates the options of the handler from those of the site', () => {
    const rules = { prefer: 'smallest' } as const
    expect(resolvePreviewDistOptions({ fallback: '404', rules, verify: 'hash' })).toEqual({
      handler: { fallback: '404' },
      site: { rules, verify: 'hash' },
    })
  })

  test('ignores unlisted files if they are served from the disk', () => {
    expect(resolvePreviewDistOptions({ fileSystemFallback: true })).toEqual({
      handler: { fileSystemFallback: true },
      site: { unlisted: 'ignore' },
    })
  })

  test('treats undefined as absent', () => {
    const given: PreviewDistOptions = Object.fromEntries([['verify', undefined]])
    expect(resolvePreviewDistOptions(given)).toEqual({ handler: {}, site: {} })
  })
})

describe('previewDist', () => {
  test.each([
    ['"dist"', 'previewDist: expected an object such as { fallback: \'spa\' }, found "dist"'],
    ['null', "previewDist: expected an object such as { fallback: 'spa' }, found null"],
    ['[]', "previewDist: expected an object such as { fallback: 'spa' }, found []"],
    [
      '{"fallback":"index.html"}',
      'previewDist option fallback: expected one of "spa", "404", "none", found "index.html"',
    ],
    ['{"verify":"md5"}', 'previewDist option verify: expected one of "size", "hash", found "md5"'],
    [
      '{"memoryBudget":"64x"}',
      'previewDist option memoryBudget: expected a size such as 65536, 64k or 1.5 MB, found "64x"',
    ],
    [
      '{"rules":{"perfer":"smallest"}}',
      'previewDist option rules.perfer: unknown rule. Did you mean "prefer"?',
    ],
    [
      '{"prefer":"smallest"}',
      'previewDist option prefer: unknown option. Valid options: fallback, fileSystemFallback, verify, memoryBudget, largestBody, rules, unlisted, noManifest, environment, envFile.',
    ],
  ])('rejects %s when the configuration is read', (given, message) => {
    const options: PreviewDistOptions = JSON.parse(given)
    expect(() => previewDist(options)).toThrow(
      expect.objectContaining({ code: 'SD_OPTION_INVALID', message }),
    )
  })
})
