import { OperatorError } from '@serve-dist/manifest'
import { byteSizeOf } from '@serve-dist/foundation/text/byte-size'
import { globProblem } from '@serve-dist/foundation/text/glob-problem'
import { type SizeColumn, sizeColumns } from '../builds/sizes.ts'

/** The most that files may weigh together. */
export interface Budget {
  /** As it was written: `assets/*.js=150kb:br`. */
  readonly text: string
  /** A glob for paths relative to the build's folder, or `total` for every file. */
  readonly files: string
  /** In bytes; as much is still within the budget. */
  readonly limit: number
  readonly column: SizeColumn
}

/**
 * Reads budgets: `<glob or total>=<size>`, then `:` and what is weighed, one of `identity`, `gzip`, `br`,
 * `zstd`, `sent` and `smallest`. Without it `sent` is: what the server sends by default to a client that
 * accepts every coding. Sizes are those of `byteSizeOf`.
 *
 * @throws {@link OperatorError} that names every one that is wrong.
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

/** A budget, or what is wrong with it. */
function parseBudget(text: string): Budget | string {
  const equals = text.lastIndexOf('=')
  const files = text.slice(0, Math.max(equals, 0)).trim()
  if (files === '') return 'it names no files; write for example assets/*.js=150kb:br or total=500kb'
  const problem = globProblem(files)
  if (problem !== undefined) return problem
  const [size = '', column = 'sent', ...others] = text.slice(equals + 1).split(':')
  const known = sizeColumns.find((name) => name === column.trim().toLowerCase())
  if (known === undefined || others.length > 0) {
    const found = [column, ...others].join(':')
    return `"${found}" cannot be weighed; after the colon write one of ${sizeColumns.join(', ')}`
  }
  const limit = byteSizeOf(size)
  if (limit === undefined) return `"${size}" is not a size; write for example 150kb, 1.5mb or 64kib`
  return { text, files, limit, column: known }
}
