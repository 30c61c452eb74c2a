import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import type { DeltasSummary } from '@serve-dist/store'
import { formatMilliseconds } from './format-milliseconds.ts'

/** Describes the deltas that a command made. */
export function formatDeltas(deltas: DeltasSummary, isDryRun = false): string {
  const { codings, isThere, made, bytes, reused, tooLarge, leftOut, milliseconds } = deltas
  if (codings.length === 0) {
    return `none: Node ${process.version} cannot make them; use Node 22.19, 24.6 or newer`
  }
  if (isThere) return 'made when the build was first published'
  const parts = [
    ...(made === 0
      ? []
      : [
          isDryRun
            ? `${made} to make`
            : `${made} made in ${formatMilliseconds(milliseconds)}, ${formatBytes(bytes)} in ${codings.join(' and ')}`,
        ]),
    ...(reused === 0 ? [] : [`${reused} from earlier builds`]),
    ...(tooLarge === 0 ? [] : [`${tooLarge} not small enough to keep`]),
    ...(leftOut === 0 ? [] : [`${leftOut} skipped because the time limit was reached`]),
  ]
  return parts.length === 0 ? 'none to make' : parts.join('; ')
}
