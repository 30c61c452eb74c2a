import type { BuildRow, BuildTable } from './build-report.ts'
import { aboveVite } from './format-build-table.ts'

/** What a pass must keep to, and whether it did. */
export interface Target {
  readonly name: string
  readonly value: number
  readonly limit: number
}

/** The targets that the table can tell of, with what was measured. */
export function targetsOf(table: BuildTable, cores: number): readonly Target[] {
  const secondsOf = (name: string): number | undefined => above(table, name, 'wallSeconds')
  const cold = secondsOf('serve-dist')
  const warm = secondsOf('serve-dist-warm')
  const hasty = secondsOf('serve-dist-hasty')
  const peak = above(table, 'serve-dist', 'peakBytes')
  if (cold === undefined) return withZstd(table, cores)
  return [
    { name: 'cold ÷ (codec CPU ÷ cores)', value: cold / (table.codecSeconds / cores), limit: 1.15 },
    ...(warm === undefined ? [] : [{ name: 'warm ÷ cold', value: warm / cold, limit: 0.05 }]),
    ...(hasty === undefined ? [] : [{ name: 'durable ÷ not', value: cold / hasty, limit: 1.05 }]),
    ...(peak === undefined ? [] : [{ name: 'peak above Vite, MiB', value: peak / 1024 / 1024, limit: 300 }]),
    ...withZstd(table, cores),
  ]
}

/** Of the default configuration; all others leave zstd out, as what they are compared with does. */
function withZstd(table: BuildTable, cores: number): readonly Target[] {
  const { codecSeconds, zstdSeconds } = table
  const cold = above(table, 'serve-dist-zstd', 'wallSeconds')
  const peak = above(table, 'serve-dist-zstd', 'peakBytes')
  if (cold === undefined || peak === undefined || zstdSeconds === undefined) return []
  const value = cold / ((codecSeconds + zstdSeconds) / cores)
  return [
    { name: 'cold with zstd ÷ (codec CPU ÷ cores)', value, limit: 1.15 },
    { name: 'peak above Vite with zstd, MiB', value: peak / 1024 / 1024, limit: 300 },
  ]
}

/** A line for each target, and one that says where what they are reckoned by is an estimate. */
export function formatTargets(targets: readonly Target[], codecSample?: number): string {
  return [
    ...targets.map(
      ({ name, value, limit }) =>
        `${value <= limit ? 'met' : 'MISSED'}: ${name} = ${value.toFixed(3)} (at most ${limit})`,
    ),
    ...(codecSample === undefined
      ? []
      : [`codec CPU: measured with ${codecSample} of the files, scaled by bytes`]),
  ].join('\n')
}

function above(table: BuildTable, name: string, quantity: 'wallSeconds' | 'peakBytes'): number | undefined {
  const row: BuildRow | undefined = table.rows.find(({ contender }) => contender === name)
  return row === undefined || row.void !== undefined ? undefined : aboveVite(row, table, quantity)
}
