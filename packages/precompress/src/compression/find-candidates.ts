import { type ContentCoding, contentCodings } from '@serve-dist/manifest'

/** A file whose name is another file's name plus a coding's extension. */
export interface Candidate<File> {
  readonly file: File
  readonly original: File
  readonly coding: ContentCoding
}

/** Finds all candidates by their names. */
export function findCandidates<File>(files: ReadonlyMap<string, File>): Candidate<File>[] {
  return [...files].flatMap(([path, file]) =>
    contentCodings.flatMap(({ name, extension }) => {
      const original = path.endsWith(extension) ? files.get(path.slice(0, -extension.length)) : undefined
      return original === undefined ? [] : [{ file, original, coding: name }]
    }),
  )
}

/** The number of candidates to decode at once, because Node's thread pool has four threads. */
export const decodedAtOnce = 4
