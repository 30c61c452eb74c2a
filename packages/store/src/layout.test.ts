import { describe, expect, test } from 'vitest'
import { type History, parseHistory, stringifyHistory } from './layout.ts'

const history: History = {
  version: 1,
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
    const busy: History = { ...history, deletesUntil: '2026-01-02T00:01:00Z' }
    expect(parseHistory(stringifyHistory(busy), 'store')).toEqual(busy)
  })

  test.each([
    ['invalid JSON', '{', 'expected version 1 of the layout, found none'],
    ['another version', '{"version":2}', 'expected version 1 of the layout, found 2'],
    ['no rows', '{"version":1}', '$.history: expected a list'],
    [
      'a row without its number',
      stringifyHistory(history).replace('"number":2,', ''),
      '$.history[0].number: expected a whole number',
    ],
  ])('is rejected if it has %s', (_what, text, problem) => {
    expect(() => parseHistory(text, 'store')).toThrow(problem)
  })
})
