import { type ContentCoding, contentCodings } from './content-coding.ts'

/**
 * Where the variant of a file stands: beside it, under its name and the coding's extension
 * (`assets/index.js`, `br` → `assets/index.js.br`).
 *
 * @throws TypeError when the coding is not one of {@link contentCodings}.
 */
export function variantPath(path: string, coding: ContentCoding): string {
  const entry = contentCodings.find(({ name }) => name === coding)
  if (entry === undefined) throw new TypeError(`unknown content coding "${coding}"`)
  return path + entry.extension
}
