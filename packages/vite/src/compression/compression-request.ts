import type { BuildFacts, BuildRecord } from '@serve-dist/precompress'
import type { ServeDistSettings } from '../serve-dist-options.ts'

/** The log of a compression. */
export interface CompressionLog {
  info(text: string): void
  warn(text: string): void
}

/** A final folder and the facts about it. */
export interface CompressionRequest extends Partial<
  Pick<BuildFacts, 'base' | 'appType' | 'assetsDirectory' | 'selection' | 'promises'>
> {
  /** Absolute path. */
  readonly folder: string
  /** The project's root. */
  readonly root: string
  readonly settings: ServeDistSettings
  /** Records of builds in this process. */
  readonly records: readonly BuildRecord[]
  readonly log: CompressionLog
  /** Whether to draw a progress line. */
  readonly drawsProgress?: boolean
  /** Whether to write no variants, because the build is watched and will be replaced soon. */
  readonly isWatched?: boolean
}
