import { describe, expect, test } from 'vitest'
import { type History, parseHistory, stringifyHistory } from './layout.ts'

const history: History = {
  version: 2,
  history: [
    { number: 2, id: 'b'.repeat(16), published: '2026-01-02T00:00:00Z', restores: 1 },
    {
      number: 1,
      id: 'a'.repeat(16),
      published: '2026-01-01T00:00:00Z',
      superseded: '2026-01-02T00:00:00Z',
    },
  ],
}

describe('a history', () => {
  test('is unchanged after it is written and parsed', () => {
    expect(parseHistory(stringifyHistory(history), 'store')).toEqual(history)
    const busy: History = {
      ...history,
      deletions: ['7c8f9a52-5c3e-4f0c-9d0a-2f4b0a1c6d3e'],
      suffixes: { [`generations/${'a'.repeat(16)}.json`]: '0'.repeat(64) },
    }
    expect(parseHistory(stringifyHistory(busy), 'store')).toEqual(busy)
    expect(parseHistory(stringifyHistory(history).replace('"version":2', '"version":1'), 'store')).toEqual(
      history,
    )
  })

  test.each([
    ['invalid JSON', '{', '$: not JSON'],
    ['no version', '{"history":[]}', '$.version: expected one of 1, 2, found nothing'],
    ['a later version', '{"version":3}', 'store: a later release of serve-dist published here'],
    ['no rows', '{"version":1}', '$.history: expected a list'],
    [
      'too many rows',
      `{"version":2,"history":[${Array.from({ length: 200_000 }, () => '{}').join()}]}`,
      '$.history: expected at most 100000 rows, found 200000',
    ],
    [
      'a row without its number',
      stringifyHistory(history).replace('"number":2,', ''),
      '$.history[0].number: expected a whole number',
    ],
  ])('is rejected if it has %s', (_what, text, problem) => {
    expect(() => parseHistory(text, 'store')).toThrow(problem)
  })
})
