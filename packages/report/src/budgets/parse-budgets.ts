import { OperatorError } from '@serve-dist/manifest'
import { byteSizeOf } from '@serve-dist/foundation/text/byte-size'
import { globProblem } from '@serve-dist/foundation/text/glob-problem'
import { type SizeColumn, sizeColumns } from '../builds/sizes.ts'

/** The maximum size of a set of files. */
export interface Budget {
  /** The text of the budget: `assets/*.js=150kb:br`. */
  readonly text: string
  /** A glob for paths relative to the build's folder, or `total` for all files. */
  readonly files: string
  /** The limit in bytes. An equal size is within the budget. */
  readonly limit: number
  readonly column: SizeColumn
}

/**
 * Parses budgets: `<glob or total>=<size>` with an optional `:` and the kind of size: `identity`, `gzip`, `br`, `zstd`,
 * `sent` or `smallest`. The default is `sent`: the size that the server sends to a client that accepts every coding.
 * `byteSizeOf` parses sizes.
 *
 * @throws {@link OperatorError} that names all invalid budgets.
 */
export function parseBudgets(texts: readonly string[]): Budget[] {
  const problems: string[] = []
  const budgets = texts.flatMap((text) => {
    const budget = parseBudget(text)
    if (typeof budget !== 'string') return [budget]
    problems.push(`budget "${text}": ${budget}`)
    return []
  })
  if (problems.length > 0) throw new OperatorError('SD_OPTION_INVALID', problems)
  return budgets
}

function parseBudget(text: string): Budget | string {
  const equals = text.lastIndexOf('=')
  const files = text.slice(0, Math.max(equals, 0)).trim()
  if (files === '')
    return 'there are no files before "=". Write for example assets/*.js=150kb:br or total=500kb.'
  const problem = globProblem(files)
  if (problem !== undefined) return problem
  const [size = '', column = 'sent', ...others] = text.slice(equals + 1).split(':')
  const known = sizeColumns.find((name) => name === column.trim().toLowerCase())
  if (known === undefined || others.length > 0) {
    const found = [column, ...others].join(':')
    return `"${found}" is not a kind of size. After the colon, write one of ${sizeColumns.join(', ')}.`
  }
  const limit = byteSizeOf(size)
  if (limit === undefined) return `"${size}" is not a size. Write for example 150kb, 1.5mb or 64kib.`
  return { text, files, limit, column: known }
}
