import type { BuildFacts, BuildRecord } from '@serve-dist/precompress'
import type { ServeDistSettings } from '../serve-dist-options.ts'

/** Who hears of a pass. */
export interface PassLog {
  info(text: string): void
  warn(text: string): void
}

/** A folder that is final, and what is known of it. */
export interface PassRequest extends Partial<
  Pick<BuildFacts, 'base' | 'appType' | 'assetsDirectory' | 'selection' | 'promises'>
> {
  /** Absolute. */
  readonly folder: string
  /** Of the project. */
  readonly root: string
  readonly settings: ServeDistSettings
  /** What builds in this process wrote down. */
  readonly records: readonly BuildRecord[]
  readonly log: PassLog
  /** Whether a line that is drawn over may be shown. */
  readonly drawsProgress?: boolean
  /** Without variants, for a build that is followed by the next one in a moment. */
  readonly isWatched?: boolean
}
