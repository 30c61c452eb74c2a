import type { DeltaCoding, ManifestFile } from '@serve-dist/manifest'
import { deltaCodings } from './delta-codec.ts'
import type { DeltaAnswer } from './start-delta-process.ts'

/** The maximum size of a delta, as a share of the smallest form without a dictionary. */
const largestShare = 0.8

/** One encoded delta of a file. */
export interface WorthwhileDelta {
  readonly coding: DeltaCoding
  readonly delta: Uint8Array
}

/** Selects the deltas that are small enough compared with the smallest form without a dictionary. */
export function worthwhileDeltas(
  file: ManifestFile,
  deltas: Extract<DeltaAnswer, { deltas: object }>['deltas'],
): readonly WorthwhileDelta[] {
  const most = smallestSentSize(file) * largestShare
  return deltaCodings.flatMap((coding) => {
    const delta = deltas[coding]
    return delta === undefined || delta.length > most ? [] : [{ coding, delta }]
  })
}

/** Returns the size of the smallest form of a file that needs no dictionary. */
export function smallestSentSize({ size, variants }: ManifestFile): number {
  return Math.min(size, ...variants.map((variant) => variant.size))
}
