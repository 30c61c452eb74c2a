import { type ContentCoding, contentCodings } from './content-coding.ts'

/**
 * Returns the path of a variant, for example `assets/index.js.br` for `assets/index.js` in `br`.
 *
 * @throws TypeError if the coding is not one of {@link contentCodings}.
 */
export function variantPath(path: string, coding: ContentCoding): string {
  const extension = extensions.get(coding)
  if (extension === undefined) throw new TypeError(`unknown content coding "${coding}"`)
  return path + extension
}

const extensions = new Map(contentCodings.map(({ name, extension }) => [name, extension]))
