import type { Comparison } from './compare-baseline.ts'
import type { Report } from './report.ts'

const lowestRatioChange = 0.8

/**
 * What a gate does not let pass: void rows, and our own ratios that fell below 0.8 of
 * the baseline's by more than noise.
 */
export function findFailures(report: Report, comparisons: readonly Comparison[]): readonly string[] {
  const voids = report.rows.flatMap(({ server, workload, void: reason }) =>
    reason === undefined ? [] : [`${workload}, ${server}: void, ${reason}`],
  )
  const falls = comparisons
    .filter(({ row }) => row.server === 'serve-dist')
    .flatMap(({ row, ratioChanges }) =>
      ratioChanges
        .filter(({ factor, isNoise }) => factor < lowestRatioChange && !isNoise)
        .map(
          ({ reference, factor }) =>
            `${row.workload}: the ratio to ${reference} is ${factor.toFixed(2)} of what it was`,
        ),
    )
  return [...voids, ...falls]
}
