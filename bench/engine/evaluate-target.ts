import type { Row, Sample } from '../serve/report/report.ts'
import { median } from '../serve/statistics.ts'
import { shareOfMark, type Target, valueOf } from './targets.ts'
import { estimateMedian, isSettled, resolutionOf } from './verdict.ts'

/** The suffix of a server's name for its second turn in each round. */
export const secondTurnSuffix = '-again'

/** The result of the rounds of one workload for a target. */
export interface TargetResult {
  /** A value for each round, of the mark's kind. */
  readonly values: readonly number[]
  /** These values as shares of the largest that the target allows. */
  readonly shares: readonly number[]
  /** The difference of the server from itself, as a share. Without a peer: its spread, or the delay of the load generator. */
  readonly resolution: number
  /** The reasons of rows without figures. */
  readonly voids: readonly string[]
}

/** Compares the rows of a run with a target. */
export function evaluateTarget(rows: readonly Row[], target: Target, workload: string): TargetResult {
  const { server, beside, quantity } = target
  const own = quantities(rows, { workload, server, quantity })
  const others = beside === undefined ? [] : quantities(rows, { workload, server: beside, quantity })
  const pairs = beside === undefined ? own.map((value) => [value] as const) : pair(own, others)
  const values = pairs.map(([value, other]) => valueOf(target, value, other))
  return {
    values,
    shares: pairs.map(([value, other]) => shareOfMark(target, value, other)),
    resolution:
      beside === undefined
        ? Math.max(spreadOf(values), lateIn(rows, target, workload))
        : differenceFromItself(rows, workload, quantity),
    voids: rows.flatMap((row) => {
      const isOf = row.workload === workload && (row.server === server || row.server === beside)
      return isOf && row.void !== undefined ? [`${row.server}: ${row.void}`] : []
    }),
  }
}

/** Tells whether a target needs the rounds of a server: the engine, its peer, and the second turn of the engine. */
export function needsServer({ server, beside }: Target, name: string): boolean {
  if (beside === undefined) return name === server
  return [server, beside, server + secondTurnSuffix].includes(name)
}

/** Tells whether no further round would change the verdict of a target, also because one of its servers is not measured. */
export function isDecided(rows: readonly Row[], target: Target, workload: string): boolean {
  const { shares, resolution } = evaluateTarget(rows, target, workload)
  return (rows.length > 0 && shares.length === 0) || isSettled(shares, resolution)
}

/** Returns the difference between the two turns of a server. */
function differenceFromItself(rows: readonly Row[], workload: string, quantity: keyof Sample): number {
  const twice = rows.filter((row) => row.workload === workload && row.server.endsWith(secondTurnSuffix))
  const differences = twice.flatMap(({ server }) => {
    const second = quantities(rows, { workload, server, quantity })
    const first = quantities(rows, { workload, server: server.slice(0, -secondTurnSuffix.length), quantity })
    const ratios = pair(second, first).map(([value, other]) => value / other)
    return ratios.length === 0 ? [] : [resolutionOf(estimateMedian(ratios))]
  })
  return differences.length === 0 ? Number.NaN : Math.max(...differences)
}

/** Returns the largest distance of the interval from the median, as a share. */
function spreadOf(values: readonly number[]): number {
  const middle = median(values)
  return resolutionOf(estimateMedian(values.map((value) => value / middle)))
}

/** Returns the delay of the load generator as a share of the mark, because a latency includes it. */
function lateIn(rows: readonly Row[], { server, quantity, mark }: Target, workload: string): number {
  if (quantity !== 'p99Milliseconds') return 0
  return median(quantities(rows, { workload, server, quantity: 'lateMilliseconds' })) / mark
}

/** Pairs the values of the rounds in which both servers had their turn. */
function pair(values: readonly number[], others: readonly number[]): (readonly [number, number])[] {
  return values.flatMap((value, round) => {
    const other = others[round]
    return other === undefined ? [] : [[value, other] as const]
  })
}

interface Wanted {
  readonly workload: string
  readonly server: string
  readonly quantity: keyof Sample
}

function quantities(rows: readonly Row[], { workload, server, quantity }: Wanted): readonly number[] {
  const row = rows.find((one) => one.workload === workload && one.server === server)
  return row?.samples.map((sample) => sample[quantity]) ?? []
}
