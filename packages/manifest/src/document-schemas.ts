import { describeMismatch } from '@serve-dist/foundation/values/describe-mismatch'
import { type ContentCoding, contentCodings } from './content-coding.ts'
import { glob } from './glob-schema.ts'
import { isBasePath } from './is-base-path.ts'
import { type AppType, appTypes, type ManifestVariant, type Selection } from './manifest.ts'
import { pathProblem } from './path-problem.ts'
import * as s from './schema.ts'

export const appType: s.Schema<AppType> = s.oneOf(appTypes)

export const basePath: s.Schema<string> = s.text(
  'a path that begins and ends with "/", such as "/app/"',
  isBasePath,
)

export const byteCount: s.Schema<number> = s.wholeNumber('a whole number of bytes')

export const contentCoding: s.Schema<ContentCoding> = s.oneOf(contentCodings.map(({ name }) => name))

export const date: s.Schema<string> = s.text('a date such as "2026-01-31T12:00:00Z"', isDate)

export const buildId: s.Schema<string> = s.text('16 to 64 lower-case hexadecimal digits', /^[0-9a-f]{16,64}$/)

export const sha256: s.Schema<string> = s.text('64 lower-case hexadecimal digits', /^[0-9a-f]{64}$/)

export const directiveName: s.Schema<string> = s.text('the name of a directive', /^[a-z-]+$/)

/** A source in the field Content-Security-Policy. */
export const sentSource: s.Schema<string> = s.text('a source', /^[\x21-\x2B\x2D-\x3A\x3C-\x7E]+$/)

/** The path of a file that the server may serve. */
export const servablePath: s.Schema<string> = s.checked(s.text('a path'), (path, note) => {
  const problem = pathProblem(path)
  if (problem !== undefined) note(describeMismatch(`a path that can be served, but ${problem}`, path))
})

/** A flag. Any value except `true` counts as missing. */
export const mark: s.OptionalSchema<true> = s.optional(
  s.converted(s.anything, (value) => value === true || undefined),
)

/** The path of a file with `[hash]` instead of each hash. */
export const stem: s.Schema<string> = s.text(
  'a path with "[hash]" instead of each hash',
  (value) => value.includes('[hash]') && pathProblem(value) === undefined,
)

export const variants: s.Schema<ManifestVariant[]> = s.listOf(
  s.objectOf<ManifestVariant>({ coding: contentCoding, size: byteCount, sha256 }),
)

export const selection: s.Schema<Selection> = s.objectOf<Selection>({
  include: s.optional(s.listOf(glob)),
  exclude: s.optional(s.listOf(glob)),
})

let lastDate = ''

/** Caches the last date, because most files of a build have the same one. */
function isDate(value: string): boolean {
  if (value !== lastDate) {
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) || Number.isNaN(Date.parse(value))) return false
    lastDate = value
  }
  return true
}
