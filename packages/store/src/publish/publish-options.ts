import { OperatorError } from '@serve-dist/manifest'
import { describeMismatch } from '@serve-dist/foundation/values/describe-mismatch'
import { type ChangeOptions, resolveChangeOptions, type ResolvedChangeOptions } from '../change-options.ts'
import { defaultDeltaBudget, type DeltaProgress } from '../deltas/encode-deltas.ts'
import { resolveRetention, type Retention } from '../history/kept-generations.ts'

/** Options of a publish. */
export interface PublishOptions extends ChangeOptions {
  /**
   * The limits of the earlier builds that the store keeps.
   *
   * @default { generations: 5, age: 7 days, bytes: 1 GiB }
   */
  readonly retention?: Partial<Retention> | undefined
  /**
   * Whether to replace a build that was published or rolled back to concurrently.
   *
   * @default false
   */
  readonly isForced?: boolean | undefined
  /**
   * Whether to read existing blobs back and send corrupted ones again.
   *
   * @default false
   */
  readonly isVerified?: boolean | undefined
  /**
   * Whether to encode deltas of changed files against earlier builds (RFC 9842).
   *
   * @default true, if this Node.js supports it
   */
  readonly makesDeltas?: boolean | undefined
  /**
   * The time in milliseconds after which the encoding ends. With 0, only deltas of earlier builds are reused.
   *
   * @default 30 seconds
   */
  readonly deltaBudget?: number | undefined
  readonly onProgress?: ((progress: PublishProgress) => void) | undefined
  /** Called before the first delta and after each delta. */
  readonly onDelta?: ((progress: DeltaProgress) => void) | undefined
}

/** The number of missing blobs that were sent. */
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
  const { makesDeltas = true, deltaBudget = defaultDeltaBudget, onDelta = () => {} } = options
  if (!(deltaBudget >= 0)) {
    const problem = `deltaBudget: ${describeMismatch('a number of milliseconds, 0 or more', deltaBudget)}`
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
