import type { Machine } from '../serve/report/report.ts'

/** One budget. */
export interface BudgetPoint {
  /** In MiB. */
  readonly budget: number
  /** Of the bodies that it holds. */
  readonly bytesInMemory: number
  /** The share of answers whose body is among them. */
  readonly hitRate: number
  /** Requests a second; a number for each round. */
  readonly rates: readonly number[]
  /** In milliseconds. */
  readonly p99: readonly number[]
  /** Resident bytes at their highest under load. */
  readonly peaks: readonly number[]
}

/** What was measured in one run. */
export interface BudgetReport {
  /** ISO 8601. */
  readonly date: string
  readonly machine: Machine
  /** Of each load. */
  readonly seconds: number
  readonly connections: number
  /** How many files the site has. */
  readonly files: number
  readonly points: readonly BudgetPoint[]
}
