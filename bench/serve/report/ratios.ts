import { median } from '../statistics.ts'
import type { Row, Sample } from './report.ts'

/** Servers that every other one is compared with, when the run has them. */
export const references = ['floor', 'sirv', 'nginx'] as const

/** How many times a reference's requests per second a row has, in the same run; none if either is void. */
export function ratioTo(reference: string, row: Row, rows: readonly Row[]): number | undefined {
  const ratios = ratiosTo(reference, row, rows)
  return ratios.length === 0 ? undefined : median(ratios)
}

/** The same round by round: a slower machine slows both servers of a round. */
export function ratiosTo(reference: string, row: Row, rows: readonly Row[]): readonly number[] {
  const other = rows.find(({ server, ...rest }) => server === reference && isSameLoad(row, rest))
  if (other === undefined) return []
  const others = requestRates(other)
  return requestRates(row).flatMap((rate, round) => {
    const otherRate = others[round]
    return otherRate === undefined ? [] : [rate / otherRate]
  })
}

/** Whether two rows were loaded alike. */
export function isSameLoad(
  one: Pick<Row, 'workload' | 'connections'>,
  other: Pick<Row, 'workload' | 'connections'>,
): boolean {
  return one.workload === other.workload && one.connections === other.connections
}

/** Requests per second, one a round. */
export function requestRates(row: Row): readonly number[] {
  return row.samples.map(({ requestsPerSecond }) => requestsPerSecond)
}

/** The median of a quantity over the rounds. */
export function medianOf({ samples }: Row, quantity: keyof Sample): number {
  return median(samples.map((sample) => sample[quantity]))
}

const own: ReadonlySet<string> = new Set(['serve-dist', 'serve-dist-native', 'serve-dist-node'])

/** Whether it is our command as people start it, with an engine by name or not. */
export function isOwn(server: string): boolean {
  return own.has(server)
}
