import { type ContentCoding, contentCodings } from '@serve-dist/manifest'
import { forEachAtOnce } from '@serve-dist/foundation/concurrency/for-each-at-once'

/** A file that is named like another with a coding's extension behind it. */
export interface Candidate<File> {
  readonly file: File
  readonly original: File
  readonly coding: ContentCoding
}

/** All such files, by their names alone. */
export function findCandidates<File>(files: ReadonlyMap<string, File>): Candidate<File>[] {
  return [...files].flatMap(([path, file]) =>
    contentCodings.flatMap(({ name, extension }) => {
      const original = path.endsWith(extension) ? files.get(path.slice(0, -extension.length)) : undefined
      return original === undefined ? [] : [{ file, original, coding: name }]
    }),
  )
}

/** In an order that does not depend on which was judged first. */
export function byPath<File extends { readonly path: string }>(
  candidates: readonly Candidate<File>[],
): Candidate<File>[] {
  return candidates.toSorted((a, b) => (a.file.path < b.file.path ? -1 : 1))
}

/** Decoding is the work of Node's pool: four threads. */
export async function judgeCandidates<File>(
  candidates: readonly Candidate<File>[],
  judge: (candidate: Candidate<File>) => Promise<void>,
): Promise<void> {
  await forEachAtOnce(candidates, 4, judge)
}
