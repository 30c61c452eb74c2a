import { ReportError } from '../builds/report-error.ts'
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

const units: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kb: 1000,
  mb: 1000 ** 2,
  gb: 1000 ** 3,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
}

/**
 * Reads a budget: `<glob or total>=<size>`, then `:` and what is weighed, one of `identity`, `gzip`, `br`,
 * `zstd`, `sent` and `smallest`. Without it `sent` is: what the server sends by default to a client that
 * accepts every coding. Units are `b`, `kb`, `mb`, `gb` of 1,000 and `kib`, `mib`, `gib` of 1,024.
 *
 * @throws {@link ReportError} when it is none.
 */
export function parseBudget(text: string): Budget {
  const equals = text.lastIndexOf('=')
  const files = text.slice(0, Math.max(equals, 0)).trim()
  if (files === '') {
    throw wrong(text, 'it names no files; write for example assets/*.js=150kb:br or total=500kb')
  }
  const [size = '', column = 'sent', ...others] = text.slice(equals + 1).split(':')
  const known = sizeColumns.find((name) => name === column.trim().toLowerCase())
  if (known === undefined || others.length > 0) {
    const found = [column, ...others].join(':')
    throw wrong(text, `"${found}" cannot be weighed; after the colon write one of ${sizeColumns.join(', ')}`)
  }
  return { text, files, limit: parseSize(text, size), column: known }
}

function parseSize(budget: string, text: string): number {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text)
  const unit = units[match?.[2]?.toLowerCase() ?? '']
  if (match === null || unit === undefined) {
    throw wrong(budget, `"${text}" is no size; write for example 150kb, 1.5mb or 64kib`)
  }
  return Math.round(Number(match[1]) * unit)
}

function wrong(text: string, problem: string): ReportError {
  return new ReportError([`budget "${text}": ${problem}`])
}
