import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { shortId } from '@serve-dist/foundation/text/short-id'
import { cell, layOutTable } from '@serve-dist/foundation/terminal/text-table'
import type { Generation } from '@serve-dist/store'

const titles = ['id', 'published', 'superseded', 'files', 'bytes', '']

/** Formats the builds of a store as a table of 80 columns, followed by the times of rollbacks and the problems of damaged builds. */
export function formatGenerations(generations: readonly Generation[], colors: boolean): string {
  const rows = generations.map(({ id, published, superseded, files, bytes, isCurrent, problem }) => [
    cell(shortId(id), ...(isCurrent ? (['bold'] as const) : [])),
    cell(formatTime(published)),
    cell(superseded === undefined ? '-' : formatTime(superseded)),
    cell(problem === undefined ? String(files) : '?'),
    cell(problem === undefined ? formatBytes(bytes) : '?'),
    isCurrent ? cell('current', 'green') : cell(problem === undefined ? '' : 'broken', 'red'),
  ])
  return [
    ...layOutTable([titles.map((title) => cell(title, 'dim')), ...rows], { colors, leftColumns: 3 }),
    ...generations.flatMap(({ id, restored, problem }) => [
      ...(restored === undefined ? [] : [`${shortId(id)}: restored ${formatTime(restored)}`]),
      ...(problem === undefined ? [] : [`${shortId(id)}: ${problem}`]),
    ]),
  ].join('\n')
}

/** Returns `2026-03-02 12:00:07` in UTC. */
export function formatTime(time: string): string {
  return time.replace(/^(\S{10})T(\d\d:\d\d:\d\d).*$/, '$1 $2')
}
