import { type ContentCoding, contentCodings } from './content-coding.ts'

/**
 * Where the variant of a file stands: beside it, under its name and the coding's extension
 * (`assets/index.js`, `br` → `assets/index.js.br`).
 *
 * @throws TypeError when the coding is not one of {@link contentCodings}.
 */
export function variantPath(path: string, coding: ContentCoding): string {
  const extension = extensions.get(coding)
  if (extension === undefined) throw new TypeError(`unknown content coding "${coding}"`)
  return path + extension
}

const extensions = new Map(contentCodings.map(({ name, extension }) => [name, extension]))
