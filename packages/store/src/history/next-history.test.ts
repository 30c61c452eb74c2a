import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type History, layoutVersion, parseHistory, stringifyHistory } from '../layout.ts'
import { selectRowToRestore, withOnly, withPublished, withRestored } from './next-history.ts'

const hour = 3_600_000
const start = Date.parse('2026-01-01T00:00:00Z')

const a = 'a'.repeat(32)
const b = 'b'.repeat(32)
const c = 'c'.repeat(32)
const d = 'd'.repeat(32)

/** Each an hour after the one before. */
function published(...ids: readonly string[]): History {
  return ids.reduce<History>((history, id, index) => withPublished(history, id, start + index * hour), {
    version: layoutVersion,
    history: [],
  })
}

function rollBack(history: History, id?: string): History {
  const row = selectRowToRestore(history, id)
  if (row === undefined) throw new Error('there is nothing to restore')
  return withRestored(history, row, start + 100 * hour)
}

function rowsOf({ history }: History): string[] {
  return history.map(({ number, id, restores }) => `${number}${id[0]}${restores ?? ''}`)
}

describe('withPublished', () => {
  test('puts the build before the others, and says when the one before was superseded', () => {
    expect(published(a, b).history).toEqual([
      { number: 2, id: b, published: '2026-01-01T01:00:00Z' },
      { number: 1, id: a, published: '2026-01-01T00:00:00Z', superseded: '2026-01-01T01:00:00Z' },
    ])
  })

  test('adds a row for a build that was there before, and none for the current one', () => {
    expect(rowsOf(published(a, b, a, a))).toEqual(['3a', '2b', '1a'])
  })

  test('never lets times run backwards', () => {
    const history = withPublished(published(a, b), c, start - hour)
    expect(history.history.map((row) => row.published)).toEqual([
      '2026-01-01T01:00:00Z',
      '2026-01-01T01:00:00Z',
      '2026-01-01T00:00:00Z',
    ])
    expect(history.history[1]?.superseded).toBe('2026-01-01T01:00:00Z')
  })
})

describe('a rollback', () => {
  test('goes to the build before, a second one further back, never forward', () => {
    const once = rollBack(published(a, b, c))
    expect(rowsOf(once)).toEqual(['4b2', '3c', '2b', '1a'])
    const twice = rollBack(once)
    expect(rowsOf(twice)).toEqual(['5a1', '4b2', '3c', '2b', '1a'])
    expect(selectRowToRestore(twice)).toBeUndefined()
  })

  test('after a rollback and a publish goes to what was current before that publish, then further back', () => {
    const history = rollBack(withPublished(rollBack(published(a, b, c)), d, start + 50 * hour))
    expect(rowsOf(history)[0]).toBe('6b2')
    expect(rowsOf(rollBack(history))[0]).toBe('7a1')
  })

  test('goes to the build that is asked for, forward too', () => {
    expect(rowsOf(rollBack(rollBack(published(a, b, c), a), c))[0]).toBe('5c3')
    expect(selectRowToRestore(published(a), b)).toBeUndefined()
  })

  test('passes over rows of the build that is current', () => {
    const history = withOnly(published(b, a, c, a), new Set([a, b]))
    expect(rowsOf(history)).toEqual(['4a', '2a', '1b'])
    expect(selectRowToRestore(history)?.id).toBe(b)
  })

  test('repeated comes to an end, with a build of an earlier origin each time, in any history', () => {
    const publishOrNot = fc.option(fc.constantFrom(a, b, c, d), { nil: undefined })
    fc.assert(
      fc.property(fc.array(publishOrNot, { maxLength: 30 }), (steps) => {
        let history = published(a)
        for (const id of steps) {
          if (id !== undefined) history = withPublished(history, id, start)
          else if (selectRowToRestore(history) !== undefined) history = rollBack(history)
        }
        expect(parseHistory(stringifyHistory(history), 'store')).toEqual(history)
        let row = selectRowToRestore(history)
        for (let last = Infinity; row !== undefined; row = selectRowToRestore(history)) {
          expect(row.id).not.toBe(history.history[0]?.id)
          expect(row.restores ?? row.number).toBeLessThan(last)
          last = row.restores ?? row.number
          history = withRestored(history, row, start)
        }
      }),
    )
  })
})
