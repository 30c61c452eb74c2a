import { OperatorError } from '@serve-dist/manifest'
import { describeMismatch } from '@serve-dist/foundation/values/describe-mismatch'
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
  /**
   * Whether changed files get deltas against those of earlier builds, which servers of the store answer (RFC 9842).
   *
   * @default true, where the codecs of this Node can
   */
  readonly makesDeltas?: boolean | undefined
  /**
   * Milliseconds after which no other delta is begun; with 0 those alone are kept that were made for earlier builds.
   *
   * @default 30 seconds
   */
  readonly deltaBudget?: number | undefined
  readonly onProgress?: ((progress: PublishProgress) => void) | undefined
  /** Called before the first delta and after each. */
  readonly onDelta?: ((progress: DeltaProgress) => void) | undefined
}

/** How many of the deltas are done: made, or left out. */
export interface DeltaProgress {
  readonly deltas: number
  readonly allDeltas: number
  /** Of the files that they are for. */
  readonly bytes: number
  readonly allBytes: number
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
  readonly makesDeltas: boolean
  readonly deltaBudget: number
  readonly onProgress: (progress: PublishProgress) => void
  readonly onDelta: (progress: DeltaProgress) => void
}

/**
 * Fills in the defaults.
 *
 * @throws OperatorError `SD_OPTION_INVALID`.
 */
export function resolvePublishOptions(options: PublishOptions): ResolvedPublishOptions {
  const { retention = {}, isForced = false, isVerified = false, onProgress = () => {} } = options
  const { makesDeltas = true, deltaBudget = 30_000, onDelta = () => {} } = options
  if (!(deltaBudget >= 0)) {
    const problem = `deltaBudget: ${describeMismatch('milliseconds, 0 or more', deltaBudget)}`
    throw new OperatorError('SD_OPTION_INVALID', problem)
  }
  return {
    ...resolveChangeOptions(options),
    retention: resolveRetention(retention),
    isForced,
    isVerified,
    makesDeltas,
    deltaBudget,
    onProgress,
    onDelta,
  }
}
