import type { DeltaCoding, ManifestFile } from '@serve-dist/manifest'
import { deltaCodings } from './delta-codec.ts'
import type { DeltaAnswer } from './start-delta-thread.ts'

/** A delta that saves less is not worth its place. */
const largestShare = 0.8

/** One delta of a file. */
export interface WorthwhileDelta {
  readonly coding: DeltaCoding
  readonly delta: Uint8Array
}

/** Those deltas of a file that are small enough beside what is sent to who has no dictionary. */
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

/** The size of a file as it is sent to who has no dictionary. */
export function smallestSentSize({ size, variants }: ManifestFile): number {
  return Math.min(size, ...variants.map((variant) => variant.size))
}
