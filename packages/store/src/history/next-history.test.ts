import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type History, layoutVersion, parseHistory, stringifyHistory } from '../layout.ts'
import { publishedOf, selectRowToRestore, withOnly, withPublished, withRestored } from './next-history.ts'

const hour = 3_600_000
const start = Date.parse('2026-01-01T00:00:00Z')

const a = 'a'.repeat(32)
const b = 'b'.repeat(32)
const c = 'c'.repeat(32)
const d = 'd'.repeat(32)

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
  test('adds the build as the first row and sets the end of the previous row', () => {
    expect(published(a, b).history).toEqual([
      { number: 2, id: b, published: '2026-01-01T01:00:00Z' },
      { number: 1, id: a, published: '2026-01-01T00:00:00Z', superseded: '2026-01-01T01:00:00Z' },
    ])
  })

  test('adds a row for an earlier build, but not for the current one', () => {
    expect(rowsOf(published(a, b, a, a))).toEqual(['3a', '2b', '1a'])
  })

  test('keeps times in order if the clock goes backwards', () => {
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
  test('restores the previous build, and goes further back the second time', () => {
    const once = rollBack(published(a, b, c))
    expect(rowsOf(once)).toEqual(['4b2', '3c', '2b', '1a'])
    const twice = rollBack(once)
    expect(rowsOf(twice)).toEqual(['5a1', '4b2', '3c', '2b', '1a'])
    expect(selectRowToRestore(twice)).toBeUndefined()
  })

  test('restores the build before a publish that followed a rollback, then an earlier one', () => {
    const history = rollBack(withPublished(rollBack(published(a, b, c)), d, start + 50 * hour))
    expect(rowsOf(history)[0]).toBe('6b2')
    expect(rowsOf(rollBack(history))[0]).toBe('7a1')
  })

  test('restores the given build, even a later one', () => {
    expect(rowsOf(rollBack(rollBack(published(a, b, c), a), c))[0]).toBe('5c3')
    expect(selectRowToRestore(published(a), b)).toBeUndefined()
  })

  test('keeps the time of the publish', () => {
    const history = rollBack(rollBack(published(a, b, c), a), c)
    const times = history.history.map((row) => publishedOf(history, row))
    expect(times.map((time) => Date.parse(time) - start)).toEqual(
      [2, 0, 2, 1, 0].map((hours) => hours * hour),
    )
  })

  test('skips rows of the current build', () => {
    const history = withOnly(published(b, a, c, a), new Set([a, b]))
    expect(rowsOf(history)).toEqual(['4a', '2a', '1b'])
    expect(selectRowToRestore(history)?.id).toBe(b)
  })

  test('reaches the oldest build in any history if it is repeated', () => {
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
