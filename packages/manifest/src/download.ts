import type { DeltaCoding } from './content-coding.ts'

/** The files that a browser with the previous build in its cache must load. */
export interface Download {
  readonly files: number
  /** The number of bytes of the files in their smallest form. */
  readonly bytes: number
  /** The number of bytes with deltas. Absent without deltas. */
  readonly bytesWithDeltas?: number
  /** The files, ordered by the bytes that deltas save. */
  readonly changes: readonly ChangedFile[]
}

/** A file with new content. All sizes are in bytes. */
export interface ChangedFile {
  readonly path: string
  /** The size of the smallest form without deltas. */
  readonly bytes: number
  readonly zstd?: number
  readonly br?: number
  /** The size of the smallest delta against the previous build. Absent without a delta. */
  readonly delta?: number
  /** The coding of the delta. */
  readonly coding?: DeltaCoding
}
