import { aboveVite, type BuildRow, type BuildTable, ratioAboveVite } from './build-table.ts'

/** A limit for a compression step, and its measured value. */
export interface Target {
  readonly name: string
  readonly value: number
  readonly limit: number
}

/** The targets that a table has rows for. */
export function targetsOf(table: BuildTable, cores: number): readonly Target[] {
  const { codecSeconds, zstdSeconds } = table
  const cold = rowOf(table, 'serve-dist')
  const warm = rowOf(table, 'serve-dist-warm')
  const hasty = rowOf(table, 'serve-dist-hasty')
  const targets: Target[] = []
  const add = (name: string, value: number, limit: number): void => void targets.push({ name, value, limit })
  const addPass = (row: BuildRow, what: string, seconds: number): void => {
    add(`cold${what} ÷ (codec CPU ÷ cores)`, aboveVite(row, table, 'wallSeconds') / (seconds / cores), 1.15)
    add(`peak above Vite${what}, MiB`, aboveVite(row, table, 'peakBytes') / 1024 / 1024, 300)
  }
  if (cold !== undefined) addPass(cold, '', codecSeconds)
  if (cold !== undefined && warm !== undefined) add('warm ÷ cold', ratioAboveVite(warm, cold, table), 0.05)
  if (cold !== undefined && hasty !== undefined)
    add('durable ÷ not', ratioAboveVite(cold, hasty, table), 1.05)
  // The default configuration. All other rows omit zstd, because the other plugins do not support it.
  const zstd = rowOf(table, 'serve-dist-zstd')
  if (zstd !== undefined) addPass(zstd, ' with zstd', codecSeconds + zstdSeconds)
  return targets
}

/** Formats a line for each target. */
export function formatTargets(targets: readonly Target[]): string {
  return targets
    .map(
      ({ name, value, limit }) =>
        `${value <= limit ? 'met' : 'MISSED'}: ${name} = ${value.toFixed(3)} (at most ${limit})`,
    )
    .join('\n')
}

/** Returns the row of a contender, unless it is void. */
function rowOf({ rows }: BuildTable, name: string): BuildRow | undefined {
  return rows.find(({ contender, void: reason }) => contender === name && reason === undefined)
}
