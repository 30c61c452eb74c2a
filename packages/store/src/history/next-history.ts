import { isoSeconds } from '@serve-dist/foundation/text/iso-seconds'
import { type History, type HistoryRow, keyIn } from '../layout.ts'

/*
 * The changes of a history. Times are the store's, in milliseconds since the epoch. A row is never older than the row
 * below it, even if the store's clock goes backwards.
 */

/** Returns a history in which a build is current. */
export function withPublished(history: History, id: string, time: number): History {
  return history.history[0]?.id === id ? history : withFirstRow(history, { id }, time)
}

/** Returns a history in which an earlier build is current again. */
export function withRestored(history: History, row: HistoryRow, time: number): History {
  return withFirstRow(history, { id: row.id, restores: originOf(row) }, time)
}

/** Returns a history with only the rows of these builds. */
export function withOnly(history: History, ids: ReadonlySet<string>): History {
  return { ...history, history: history.history.filter(({ id }) => ids.has(id)) }
}

/** Returns a history with only the suffixes of these keys. */
export function withOnlySuffixes(history: History, keys: ReadonlySet<string>): History {
  const kept = Object.entries(history.suffixes ?? {}).filter(([plainKey]) =>
    keys.has(keyIn(history, plainKey)),
  )
  return { ...history, suffixes: Object.fromEntries(kept) }
}

/**
 * Selects the row that a rollback restores: the newest row of the requested build. Without an id, it is the newest row
 * that is older than the current one, or than the row that the current one restored. A second rollback therefore goes
 * further back.
 *
 * @returns `undefined` if there is no such row.
 */
export function selectRowToRestore({ history }: History, id?: string): HistoryRow | undefined {
  const [current] = history
  if (current === undefined) return undefined
  if (id !== undefined) return history.find((row) => row.id === id)
  return history.find((row) => row.number < originOf(current) && row.id !== current.id)
}

/** Returns the time of the publish that a row, or the row that it restores, began with. */
export function publishedOf({ history }: History, row: HistoryRow): string {
  return history.find(({ number }) => number === originOf(row))?.published ?? row.published
}

/** Returns the number of the row that a rollback restored, or the row's own number. */
function originOf({ number, restores }: HistoryRow): number {
  return restores ?? number
}

function withFirstRow(history: History, row: Pick<HistoryRow, 'id' | 'restores'>, time: number): History {
  const [current, ...earlier] = history.history
  const number = (current?.number ?? 0) + 1
  const published = timeAfter(current, time)
  const first = { number, published, ...row }
  const others = current === undefined ? [] : [{ ...current, superseded: published }, ...earlier]
  return { ...history, history: [first, ...others] }
}

function timeAfter(row: HistoryRow | undefined, time: number): string {
  const earliest = row === undefined ? 0 : Date.parse(row.published)
  return isoSeconds(Math.max(earliest, time))
}
