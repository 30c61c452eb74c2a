import type { ContentCoding } from '@serve-dist/manifest'
import { hasZstdEncoder } from './zstd-encoder.ts'

/** The codings that this installation can encode; a build that lacks one is served all the same. */
export function availableCodings(
  codings: readonly ContentCoding[],
  warn: (message: string) => void,
): readonly ContentCoding[] {
  if (!codings.includes('zstd') || hasZstdEncoder()) return codings
  warn(
    `zstd is left out: Node.js ${process.versions.node} has none, and the optional @hpcc-js/wasm-zstd is not installed; use Node.js 22.15 or newer, or install without --omit=optional`,
  )
  return codings.filter((coding) => coding !== 'zstd')
}
