import { describe, expect, test } from 'vitest'
import { describeReload } from './describe-reload.ts'
import type { ReloadOutcome } from './open-site-store.ts'

const before = '0123456789abcdef'
const after = 'fedcba9876543210'

describe('describeReload', () => {
  test.each<readonly [ReloadOutcome, string]>([
    [
      { status: 'swapped', buildId: after, replaced: before },
      'build fedcba987654 is served now, in the place of 0123456789ab',
    ],
    [{ status: 'unchanged', buildId: before }, 'the build that is there is served already: 0123456789ab'],
    [
      { status: 'refused', buildId: before, problems: ['a: missing', 'b: missing'] },
      'the new build is refused, 0123456789ab is served on:\na: missing\nb: missing',
    ],
    [
      { status: 'refused', buildId: '', problems: ['no worker is there to load it'] },
      'the new build is refused:\nno worker is there to load it',
    ],
  ])('of %o says %j', (outcome, text) => {
    expect(describeReload(outcome)).toBe(text)
  })
})
