import { isNoise, median, spread } from '../statistics.ts'
import { isSameLoad, ratiosTo, references, requestRates } from './ratios.ts'
import type { Report, Row } from './report.ts'

/** A row that is in both reports. */
export interface Comparison {
  readonly row: Row
  /** Change of the requests per second: 0.1 is 10 % more than before. */
  readonly change: number
  readonly isNoise: boolean
  /** Changes of the ratios to the references, which depend less on the machine. */
  readonly ratioChanges: readonly RatioChange[]
}

interface RatioChange {
  readonly reference: string
  /** Today's ratio divided by the baseline's. */
  readonly factor: number
  readonly isNoise: boolean
}

/** Compares rows of two runs with the same server and the same load. Ignores void rows. */
export function compareBaseline(now: Report, before: Report): readonly Comparison[] {
  return now.rows.flatMap((row) => {
    const earlier = before.rows.find((other) => other.server === row.server && isSameLoad(row, other))
    if (earlier === undefined || earlier.void !== undefined || row.void !== undefined) return []
    const rates = [requestRates(row), requestRates(earlier)]
    const change = median(requestRates(row)) / median(requestRates(earlier)) - 1
    const ratioChanges = references.flatMap((reference) => {
      const today = ratiosTo(reference, row, now.rows)
      const then = ratiosTo(reference, earlier, before.rows)
      if (reference === row.server || today.length === 0 || then.length === 0) return []
      const factor = median(today) / median(then)
      return [{ reference, factor, isNoise: isNoise(factor - 1, [spread(today), spread(then)]) }]
    })
    return [
      {
        row,
        change,
        isNoise: isNoise(change, rates.map(spread)),
        ratioChanges,
      },
    ]
  })
}

/** Formats a line for each comparison. */
export function formatComparisons(comparisons: readonly Comparison[]): string {
  return comparisons
    .map(({ row, change, isNoise: isHidden, ratioChanges }) => {
      const percent = `${change >= 0 ? '+' : ''}${(change * 100).toFixed(1)} %`
      const ratios = ratioChanges.map(
        (ratio) => `ratio to ${ratio.reference} × ${ratio.factor.toFixed(2)}${noted(ratio.isNoise)}`,
      )
      const name = `${row.workload}, ${row.connections} connections, ${row.server}`
      return [`${name}: ${percent}${noted(isHidden)}`, ...ratios].join(', ')
    })
    .join('\n')
}

function noted(isHidden: boolean): string {
  return isHidden ? ' (noise)' : ''
}

const lowestRatioChange = 0.8

/**
 * Returns the failures of a gate: void rows, and our own ratios that fell below 0.8 of the baseline's by more than noise.
 */
export function findFailures(report: Report, comparisons: readonly Comparison[]): readonly string[] {
  const voids = report.rows.flatMap(({ server, workload, void: reason }) =>
    reason === undefined ? [] : [`${workload}, ${server}: void, ${reason}`],
  )
  const falls = comparisons
    .filter(({ row }) => row.server.startsWith('serve-dist'))
    .flatMap(({ row, ratioChanges }) =>
      ratioChanges
        .filter(({ factor, isNoise: isHidden }) => factor < lowestRatioChange && !isHidden)
        .map(
          ({ reference, factor }) =>
            `${row.workload}, ${row.server}: the ratio to ${reference} is ${factor.toFixed(2)} of what it was`,
        ),
    )
  return [...voids, ...falls]
}
