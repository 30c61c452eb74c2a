import { markdownTable } from 'markdown-table'
import { median, spread } from '../serve/statistics.ts'
import type { CodecSeconds } from './codec-program.ts'
import type { BuildSample } from './run-build.ts'

/** The rounds of a contender with a tree. */
export interface BuildRow {
  readonly contender: string
  readonly version: string
  readonly samples: readonly BuildSample[]
  /** Why the row has no numbers. */
  readonly void: string | undefined
}

/** A tree, and the rounds of each contender. */
export interface BuildTable extends CodecSeconds {
  readonly title: string
  readonly rows: readonly BuildRow[]
}

type Quantity = 'wallSeconds' | 'cpuSeconds' | 'peakBytes' | 'writtenBytes'

const headings = [
  'contender',
  'wall s',
  '±',
  'above Vite s',
  '× serve-dist',
  'CPU s',
  'peak MiB',
  'above Vite MiB',
  'written MB',
  'gzip kB',
  'brotli kB',
]

/** Formats a table as Markdown. */
export function formatBuildTable(table: BuildTable): string {
  const align = headings.map((_, column) => (column === 0 ? 'l' : 'r'))
  return markdownTable([headings, ...table.rows.map((row) => cellsOf(row, table))], { align })
}

/** Returns the median of the differences to Vite alone in each round. */
export function aboveVite(row: BuildRow, table: BuildTable, quantity: Quantity): number {
  return median(eachAboveVite(row, table, quantity).filter((amount) => amount !== undefined))
}

/** Returns the time above Vite alone, divided by that of another contender in the same round. */
export function ratioAboveVite(row: BuildRow, other: BuildRow, table: BuildTable): number {
  const others = eachAboveVite(other, table, 'wallSeconds')
  const ratios = eachAboveVite(row, table, 'wallSeconds').flatMap((seconds, round) => {
    const otherSeconds = others[round]
    return seconds === undefined || otherSeconds === undefined ? [] : [seconds / otherSeconds]
  })
  return median(ratios)
}

function eachAboveVite(row: BuildRow, { rows }: BuildTable, quantity: Quantity): (number | undefined)[] {
  const vite = rows.find(({ contender }) => contender === 'vite')?.samples ?? []
  return row.samples.map((sample, round) => {
    const base = vite[round]
    return base === undefined ? undefined : sample[quantity] - base[quantity]
  })
}

function cellsOf(row: BuildRow, table: BuildTable): string[] {
  const name = `${row.contender} ${row.version}`.trim()
  if (row.void !== undefined) return [name, `void: ${row.void}`, ...headings.slice(2).map(() => '')]
  const of = (quantity: Quantity): number => median(row.samples.map((sample) => sample[quantity]))
  const isVite = row.contender === 'vite'
  return [
    name,
    of('wallSeconds').toFixed(2),
    `${(spread(row.samples.map(({ wallSeconds }) => wallSeconds)) * 100).toFixed(0)} %`,
    isVite ? '–' : aboveVite(row, table, 'wallSeconds').toFixed(2),
    isVite ? '–' : (ratioToOurs(row, table)?.toFixed(2) ?? '–'),
    of('cpuSeconds').toFixed(1),
    mebibytes(of('peakBytes')),
    isVite ? '–' : mebibytes(aboveVite(row, table, 'peakBytes')),
    (of('writtenBytes') / 1e6).toFixed(1),
    kilobytes(row, '.gz'),
    kilobytes(row, '.br'),
  ]
}

function ratioToOurs(row: BuildRow, table: BuildTable): number | undefined {
  const ours = table.rows.find(({ contender }) => contender === 'serve-dist')
  if (ours === undefined || ours.void !== undefined) return undefined
  return ratioAboveVite(row, ours, table)
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0)
}

function kilobytes({ samples }: BuildRow, extension: keyof BuildSample['variantBytes']): string {
  const bytes = samples[0]?.variantBytes[extension]
  return bytes === undefined ? '–' : (bytes / 1000).toFixed(0)
}
