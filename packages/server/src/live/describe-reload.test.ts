import { describe, expect, test } from 'vitest'
import { describeReload } from './describe-reload.ts'
import type { ReloadOutcome } from './reload-outcome.ts'

const before = '0123456789abcdef'
const after = 'fedcba9876543210'
const counts = { unlistedFiles: 0, keptBuilds: 0, keptFiles: 0 }

describe('describeReload', () => {
  test.each<readonly [ReloadOutcome, string]>([
    [
      { status: 'swapped', buildId: after, replaced: before, ...counts },
      'now serving build fedcba987654 (was 0123456789ab)',
    ],
    [
      { status: 'swapped', buildId: after, replaced: before, ...counts, keptBuilds: 1, keptFiles: 4 },
      'now serving build fedcba987654 (was 0123456789ab), with 4 hashed files of 1 earlier build',
    ],
    [
      { status: 'swapped', buildId: before, replaced: before, hasNewValues: true, ...counts },
      'now serving build 0123456789ab with new environment values',
    ],
    [{ status: 'unchanged', buildId: before }, 'build 0123456789ab is already being served'],
    [
      { status: 'refused', buildId: before, problems: ['a: missing', 'b: missing'] },
      'reload refused, still serving 0123456789ab:\na: missing\nb: missing',
    ],
    [
      { status: 'refused', buildId: '', problems: ['no worker is running'] },
      'reload refused:\nno worker is running',
    ],
  ])('describes %o as %j', (outcome, text) => {
    expect(describeReload(outcome)).toBe(text)
  })
})
