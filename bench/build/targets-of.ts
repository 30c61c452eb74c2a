import type { BuildRow, BuildTable } from './build-report.ts'
import { aboveVite, ratioAboveVite } from './format-build-table.ts'

/** What a pass must keep to, and whether it did. */
export interface Target {
  readonly name: string
  readonly value: number
  readonly limit: number
}

/** The targets that the table can tell of, with what was measured. */
export function targetsOf(table: BuildTable, cores: number): readonly Target[] {
  const cold = rowOf(table, 'serve-dist')
  if (cold === undefined) return withZstd(table, cores)
  const warm = rowOf(table, 'serve-dist-warm')
  const hasty = rowOf(table, 'serve-dist-hasty')
  const seconds = aboveVite(cold, table, 'wallSeconds')
  const peak = aboveVite(cold, table, 'peakBytes') / 1024 / 1024
  const shareOfCold = (row: BuildRow): number => ratioAboveVite(row, cold, table)
  return [
    { name: 'cold ÷ (codec CPU ÷ cores)', value: seconds / (table.codecSeconds / cores), limit: 1.15 },
    ...(warm === undefined ? [] : [{ name: 'warm ÷ cold', value: shareOfCold(warm), limit: 0.05 }]),
    ...(hasty === undefined
      ? []
      : [{ name: 'durable ÷ not', value: ratioAboveVite(cold, hasty, table), limit: 1.05 }]),
    { name: 'peak above Vite, MiB', value: peak, limit: 300 },
    ...withZstd(table, cores),
  ]
}

/** Of the default configuration; all others leave zstd out, as what they are compared with does. */
function withZstd(table: BuildTable, cores: number): readonly Target[] {
  const { codecSeconds, zstdSeconds } = table
  const cold = rowOf(table, 'serve-dist-zstd')
  if (cold === undefined || zstdSeconds === undefined) return []
  const seconds = aboveVite(cold, table, 'wallSeconds')
  const peak = aboveVite(cold, table, 'peakBytes') / 1024 / 1024
  return [
    {
      name: 'cold with zstd ÷ (codec CPU ÷ cores)',
      value: seconds / ((codecSeconds + zstdSeconds) / cores),
      limit: 1.15,
    },
    { name: 'peak above Vite with zstd, MiB', value: peak, limit: 300 },
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

/** One that can be told of. */
function rowOf({ rows }: BuildTable, name: string): BuildRow | undefined {
  return rows.find(({ contender, void: reason }) => contender === name && reason === undefined)
}
