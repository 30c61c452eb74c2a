import type { Sample } from '../measure/sample.ts'

/** All rounds of one server at one workload. */
export interface Row {
  readonly server: string
  readonly version: string
  readonly workload: string
  readonly connections: number
  /** One a round; none when the row is void. */
  readonly samples: readonly Sample[]
  readonly codings: readonly string[]
  readonly remarks: readonly string[]
  /** Why the row says nothing. */
  readonly void: string | undefined
}

/** A run: what `--save` writes and `--baseline` reads. */
export interface Report {
  readonly date: string
  readonly command: string
  readonly machine: Machine
  /** Servers that were asked for and are not here, with the reason. */
  readonly missing: Readonly<Record<string, string>>
  readonly titles: Readonly<Record<string, string>>
  readonly rows: readonly Row[]
}

/** What the numbers depend on. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryBytes: number
  readonly system: string
  readonly node: string
}
