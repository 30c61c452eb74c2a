import type { Row, Sample } from '../serve/report/report.ts'
import { median } from '../serve/statistics.ts'
import { shareOfMark, type Target, valueOf } from './targets.ts'
import { estimate, isSettled, resolutionOf } from './verdict.ts'

/** What is added to the name of a server that takes a second turn in each round. */
export const again = '-again'

/** What the rounds of one workload say of a target. */
export interface Judged {
  /** A value for each round, as the mark is one. */
  readonly values: readonly number[]
  /** The same as shares of what the target allows. */
  readonly shares: readonly number[]
  /** As a share: how far the server is from itself. Beside nothing: how far from its own median, or how late the load is. */
  readonly resolution: number
  /** Why there is nothing to judge. */
  readonly voids: readonly string[]
}

/** Reads it from the rows of a run. */
export function judge(rows: readonly Row[], target: Target, workload: string): Judged {
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

/** Whether a target needs the rounds of a server: those of the engine, of what it is beside, and of the engine once more. */
export function isAbout({ server, beside }: Target, name: string): boolean {
  if (beside === undefined) return name === server
  return [server, beside, server + again].includes(name)
}

/** Whether no further round would change what is said of a target, or there is nothing to say. */
export function isDecided(rows: readonly Row[], target: Target, workload: string): boolean {
  const { shares, resolution, voids } = judge(rows, target, workload)
  return voids.length > 0 || isSettled(shares, resolution)
}

/** How far the server that takes two turns is from itself. */
function differenceFromItself(rows: readonly Row[], workload: string, quantity: keyof Sample): number {
  const twice = rows.filter((row) => row.workload === workload && row.server.endsWith(again))
  const differences = twice.flatMap(({ server }) => {
    const second = quantities(rows, { workload, server, quantity })
    const first = quantities(rows, { workload, server: server.slice(0, -again.length), quantity })
    const ratios = pair(second, first).map(([value, other]) => value / other)
    return ratios.length === 0 ? [] : [resolutionOf(estimate(ratios))]
  })
  return differences.length === 0 ? Number.NaN : Math.max(...differences)
}

/** Of values that stand beside nothing: how far the interval reaches from their median. */
function spreadOf(values: readonly number[]): number {
  const middle = median(values)
  return resolutionOf(estimate(values.map((value) => value / middle)))
}

/** A latency cannot be told from its mark where the load generator itself is as late, as a share of the mark. */
function lateIn(rows: readonly Row[], { server, quantity, mark }: Target, workload: string): number {
  if (quantity !== 'p99Milliseconds') return 0
  return median(quantities(rows, { workload, server, quantity: 'lateMilliseconds' })) / mark
}

/** Those of each round in which both had their turn. */
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
