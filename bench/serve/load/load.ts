import type { PlannedRequest } from './request-text.ts'

/** What is sent, how, and for how long. */
export interface LoadInput {
  readonly port: number
  readonly planned: readonly PlannedRequest[]
  readonly sequence: readonly number[]
  readonly newConnections: boolean
  readonly connections: number
  readonly seconds: number
  /** As `taskset -c` takes them. */
  readonly cores: string
}

/** What came back. */
export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  readonly wireBytes: number
  readonly p50Milliseconds: number
  readonly p99Milliseconds: number
  /** What went wrong, how often; a kind that never did may be there with 0. */
  readonly errors: Readonly<Record<string, number>>
}
