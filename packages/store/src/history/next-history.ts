import type { History, HistoryRow } from '../layout.ts'

/*
 * What a history becomes. Times are the store's, in milliseconds since the epoch; a row's never comes before that of the
 * row below it, whatever the store's clock does.
 */

/** A build becomes the current one; the same history where it is already. */
export function withPublished(history: History, id: string, time: number): History {
  return history.history[0]?.id === id ? history : withFirstRow(history, { id }, time)
}

/** A build that was current before becomes so again. */
export function withRestored(history: History, row: HistoryRow, time: number): History {
  return withFirstRow(history, { id: row.id, restores: originOf(row) }, time)
}

/** Only the rows of these builds are left. */
export function withOnly(history: History, ids: ReadonlySet<string>): History {
  return { ...history, history: history.history.filter(({ id }) => ids.has(id)) }
}

/**
 * Which row a rollback makes current: the newest one of the build that is asked for; else the newest from before the one
 * that is current now, or that the current one restored. So a second rollback goes further back, and never forward.
 *
 * @returns `undefined` where there is none.
 */
export function selectRowToRestore({ history }: History, id?: string): HistoryRow | undefined {
  const [current] = history
  if (current === undefined) return undefined
  if (id !== undefined) return history.find((row) => row.id === id)
  return history.find((row) => row.number < originOf(current) && row.id !== current.id)
}

/** Of a row that a rollback made: the number of the one that it made current again. */
function originOf({ number, restores }: HistoryRow): number {
  return restores ?? number
}

function withFirstRow(history: History, row: Pick<HistoryRow, 'id' | 'restores'>, time: number): History {
  const [current, ...earlier] = history.history
  const number = (current?.number ?? 0) + 1
  const published = timeAfter(current, time)
  const rows: HistoryRow[] = [{ number, published, ...row }]
  if (current !== undefined) rows.push({ ...current, superseded: published }, ...earlier)
  return { ...history, history: rows }
}

/** Whole seconds, as dates are written in a store. */
function timeAfter(row: HistoryRow | undefined, time: number): string {
  const earliest = row === undefined ? 0 : Date.parse(row.published)
  return isoSeconds(Math.max(earliest, time))
}

/** @param time - in milliseconds since the epoch. */
export function isoSeconds(time: number): string {
  return new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
