import { type ContentCoding, contentCodings } from '@serve-dist/manifest'

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

/** How many candidates are decoded at once: Node's pool has four threads. */
export const decodedAtOnce = 4
