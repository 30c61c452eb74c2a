import type { Machine } from '../serve/report/report.ts'
import type { BuildSample } from './run-build.ts'

/** All rounds of one contender with one tree. */
export interface BuildRow {
  readonly contender: string
  readonly version: string
  readonly samples: readonly BuildSample[]
  /** Calls of `fsync` and `fdatasync`; `undefined` where they were not counted. */
  readonly flushes: number | undefined
  /** Why the row says nothing. */
  readonly void: string | undefined
}

/** A tree and what building it cost everybody. */
export interface BuildTable {
  readonly tree: string
  readonly title: string
  /** The codecs' own CPU time for the files, gzip and brotli, in one thread. */
  readonly codecSeconds: number
  /** The same for zstd; not in reports of before it was measured. */
  readonly zstdSeconds?: number
  /** With how many of the files both were measured, and scaled by bytes; not there when with all. */
  readonly codecSample?: number
  readonly rows: readonly BuildRow[]
}

/** A run: what `--save` writes and `--baseline` reads. */
export interface BuildReport {
  readonly date: string
  readonly command: string
  readonly machine: Machine
  readonly tables: readonly BuildTable[]
}
