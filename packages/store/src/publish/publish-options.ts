import { type ChangeOptions, resolveChangeOptions, type ResolvedChangeOptions } from '../change-options.ts'
import { resolveRetention, type Retention } from '../history/kept-generations.ts'

/** How a build is published. */
export interface PublishOptions extends ChangeOptions {
  /**
   * What stays of earlier builds.
   *
   * @default { generations: 5, age: 7 days, bytes: 1 GiB }
   */
  readonly retention?: Partial<Retention> | undefined
  /**
   * Whether it wins over another publish or rollback that comes between.
   *
   * @default false
   */
  readonly isForced?: boolean | undefined
  /**
   * Whether blobs that are there are read back and compared; those with other bytes are sent again.
   *
   * @default false
   */
  readonly isVerified?: boolean | undefined
  readonly onProgress?: ((progress: PublishProgress) => void) | undefined
}

/** How many of the blobs that the store lacks were sent. */
export interface PublishProgress {
  readonly blobs: number
  readonly allBlobs: number
  readonly bytes: number
  readonly allBytes: number
}

/** Options with their defaults. */
export interface ResolvedPublishOptions extends ResolvedChangeOptions {
  readonly retention: Retention
  readonly isForced: boolean
  readonly isVerified: boolean
  readonly onProgress: (progress: PublishProgress) => void
}

/** Fills in the defaults. */
export function resolvePublishOptions(options: PublishOptions): ResolvedPublishOptions {
  const { retention = {}, isForced = false, isVerified = false, onProgress = () => {} } = options
  return {
    ...resolveChangeOptions(options),
    retention: resolveRetention(retention),
    isForced,
    isVerified,
    onProgress,
  }
}
