import { median } from '../statistics.ts'
import type { Row, Sample } from './report.ts'

/** The servers with which all others are compared, if the run has them. */
export const references = ['floor', 'sirv', 'nginx'] as const

/** Returns the requests per second of a row divided by those of a reference; `undefined` if either is void. */
export function ratioTo(reference: string, row: Row, rows: readonly Row[]): number | undefined {
  const ratios = ratiosTo(reference, row, rows)
  return ratios.length === 0 ? undefined : median(ratios)
}

/** Returns that ratio for each round, because a slower machine affects both servers of a round. */
export function ratiosTo(reference: string, row: Row, rows: readonly Row[]): readonly number[] {
  const other = rows.find(({ server, ...rest }) => server === reference && isSameLoad(row, rest))
  if (other === undefined) return []
  const others = requestRates(other)
  return requestRates(row).flatMap((rate, round) => {
    const otherRate = others[round]
    return otherRate === undefined ? [] : [rate / otherRate]
  })
}

/** Tells whether two rows had the same load. */
export function isSameLoad(
  one: Pick<Row, 'workload' | 'connections'>,
  other: Pick<Row, 'workload' | 'connections'>,
): boolean {
  return one.workload === other.workload && one.connections === other.connections
}

/** Returns the requests per second of each round. */
export function requestRates(row: Row): readonly number[] {
  return row.samples.map(({ requestsPerSecond }) => requestsPerSecond)
}

/** Returns the median of a quantity over the rounds. */
export function medianOf({ samples }: Row, quantity: keyof Sample): number {
  return median(samples.map((sample) => sample[quantity]))
}

const own: ReadonlySet<string> = new Set(['serve-dist', 'serve-dist-native', 'serve-dist-node'])

/** Tells whether a server is our command. */
export function isOwn(server: string): boolean {
  return own.has(server)
}

/** Below this share of its core, the load generator was the limit and not the server. */
const busyShare = 0.8

/** Tells whether a server, not the load generator, limited the requests per second of a row. */
export function isBusy(row: Row): boolean {
  return medianOf(row, 'cpuShare') >= busyShare
}
