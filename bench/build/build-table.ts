import { markdownTable } from 'markdown-table'
import type { Machine } from '../serve/report/report.ts'
import { median, spread } from '../serve/statistics.ts'
import type { BuildSample } from './run-build.ts'

/** All rounds of one contender with one tree. */
export interface BuildRow {
  readonly contender: string
  readonly version: string
  readonly samples: readonly BuildSample[]
  /** Why the row has no numbers. */
  readonly void: string | undefined
}

/** A tree, and what each contender took to build it. */
export interface BuildTable {
  readonly tree: string
  readonly title: string
  /** The codecs' own CPU time for the files, gzip and brotli, in one thread. */
  readonly codecSeconds: number
  /** The same for zstd. */
  readonly zstdSeconds: number
  /** The number of files that both were measured with and scaled from; absent when it was all. */
  readonly codecSample?: number
  readonly rows: readonly BuildRow[]
}

/** A run: what `--save` writes and `--baseline` reads. */
export interface BuildReport {
  readonly date: string
  readonly command: string
  readonly machine: Machine
  readonly tables: readonly BuildTable[]
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

/** Lays out a table in Markdown; a row that is void says why. */
export function formatBuildTable(table: BuildTable): string {
  const align = headings.map((_, column) => (column === 0 ? 'l' : 'r'))
  return markdownTable([headings, ...table.rows.map((row) => cellsOf(row, table))], { align })
}

/** What a contender takes beyond Vite's own, round by round: the median. */
export function aboveVite(row: BuildRow, table: BuildTable, quantity: Quantity): number {
  return median(eachAboveVite(row, table, quantity).filter((amount) => amount !== undefined))
}

/** The same as a share of what another takes, round by round: a slower machine slows both of a round. */
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

/** Of the time above Vite's own. */
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
