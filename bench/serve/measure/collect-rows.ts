import type { Measured } from './measure.ts'
import type { Row } from '../report/report.ts'

/** Which row a result belongs to. */
export type RowKey = Pick<Row, 'server' | 'version' | 'workload' | 'connections'>

/** Results of rounds that are under way. */
export interface RowCollection {
  add(key: RowKey, result: Measured): void
  /** Takes a row out: what it had says nothing either. */
  void(key: RowKey, reason: string): void
  isVoid(key: RowKey): boolean
  /** What is there so far, in the order in which it came. */
  rows(): readonly Row[]
}

/** Collects the rows of a report. */
export function collectRows(): RowCollection {
  const collected = new Map<string, Row>()
  const find = (key: RowKey): Row =>
    collected.get(idOf(key)) ?? { ...key, samples: [], codings: [], remarks: [], void: undefined }
  return {
    add(key, { sample, codings, remarks }) {
      const row = find(key)
      collected.set(idOf(key), {
        ...row,
        samples: [...row.samples, sample],
        codings: union(row.codings, codings),
        remarks: union(row.remarks, remarks),
      })
    },
    void(key, reason) {
      collected.set(idOf(key), { ...find(key), samples: [], void: reason })
    },
    isVoid: (key) => find(key).void !== undefined,
    rows: () => [...collected.values()],
  }
}

function idOf({ server, workload, connections }: RowKey): string {
  return JSON.stringify([workload, connections, server])
}

function union(one: readonly string[], other: readonly string[]): readonly string[] {
  return [...new Set([...one, ...other])]
}
