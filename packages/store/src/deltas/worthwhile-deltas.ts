import type { DeltaCoding, ManifestFile } from '@serve-dist/manifest'
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
  { dcz, dcb }: Extract<DeltaAnswer, { deltas: object }>['deltas'],
): readonly WorthwhileDelta[] {
  const most = smallestForm(file) * largestShare
  const made = [
    ...(dcz === undefined ? [] : [{ coding: 'dcz' as const, delta: dcz }]),
    ...(dcb === undefined ? [] : [{ coding: 'dcb' as const, delta: dcb }]),
  ]
  return made.filter(({ delta }) => delta.length <= most)
}

/** The size of a file as it is sent to who has no dictionary. */
export function smallestForm({ size, variants }: ManifestFile): number {
  return Math.min(size, ...variants.map((variant) => variant.size))
}
