import type { Machine } from '../serve/report/report.ts'

/** One way of sending a body, for one size, on one Node. */
export interface Point {
  readonly node: string
  readonly cache: string
  readonly connections: number
  /** In KiB. */
  readonly size: number
  readonly way: string
  /** Requests a second; a number for each round. */
  readonly rates: number[]
  /** Microseconds of the server's CPU time for a request. */
  readonly cpu: number[]
  /** In milliseconds. */
  readonly p99: number[]
}

/** What was measured in one run. */
export interface BodiesReport {
  /** ISO 8601. */
  readonly date: string
  readonly machine: Machine
  /** Of each load. */
  readonly seconds: number
  readonly points: readonly Point[]
}
