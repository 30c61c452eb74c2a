import type { DeltaCoding } from './content-coding.ts'

/** What a browser that has loaded all of one build would load to have all of the next. */
export interface Download {
  readonly files: number
  /** Of the files in their smallest forms. */
  readonly bytes: number
  /** The same where the browser takes deltas; absent where the build has none. */
  readonly bytesWithDeltas?: number
  /** What it saves most bytes of first. */
  readonly changes: readonly ChangedFile[]
}

/** A file with content that the build before did not have; all sizes in bytes. */
export interface ChangedFile {
  readonly path: string
  /** In its smallest form, without deltas. */
  readonly bytes: number
  readonly zstd?: number
  readonly br?: number
  /** The smallest delta against the file of the build before; absent where there is none. */
  readonly delta?: number
  /** Of the delta. */
  readonly coding?: DeltaCoding
}
