import { isSameLoad } from './ratio-to.ts'
import { UnreadableReport } from './read-saved.ts'
import type { Report, Row } from './report.ts'

/** Which rows of a report are wanted; an empty list is all. */
export interface RowFilter {
  readonly servers: readonly string[]
  readonly workloads: readonly string[]
  readonly connections: readonly number[]
}

/**
 * Makes one report of several: of a row that is in more than one of them, the last counts. Ratios are made within a
 * report, so the last one that measured a workload at a number of connections gives all its rows.
 *
 * @throws UnreadableReport for no report, none of the wanted rows, or reports of several machines or versions of Node.
 */
export function mergeReports(reports: readonly Report[], wanted: RowFilter): Report {
  const last = reports.at(-1)
  if (last === undefined) throw new UnreadableReport('--from: no report')
  const [origin, ...others] = new Set(reports.map(({ machine }) => describeMachine(machine)))
  if (others.length > 0)
    throw new UnreadableReport(
      `--from: measured on ${origin} and on ${others.join(' and on ')}: read them one by one`,
    )
  const rows = reports.flatMap((report, index) =>
    report.rows.filter(
      (row) =>
        isWanted(row, wanted) &&
        !reports.slice(index + 1).some((later) => later.rows.some((other) => isSameLoad(row, other))),
    ),
  )
  if (rows.length === 0)
    throw new UnreadableReport('--from: no row has the servers, workloads and connections that are asked for')
  return {
    ...last,
    command: [...new Set(reports.map(({ command }) => command))].join('; '),
    missing: Object.assign({}, ...reports.map(({ missing }) => missing)),
    titles: Object.assign({}, ...reports.map(({ titles }) => titles)),
    rows,
  }
}

function describeMachine({ node, system, processor, cores }: Report['machine']): string {
  return `Node.js ${node}, ${system}, ${cores} cores of ${processor}`
}

function isWanted(row: Row, { servers, workloads, connections }: RowFilter): boolean {
  return has(servers, row.server) && has(workloads, row.workload) && has(connections, row.connections)
}

function has<Value>(list: readonly Value[], value: Value): boolean {
  return list.length === 0 || list.includes(value)
}
