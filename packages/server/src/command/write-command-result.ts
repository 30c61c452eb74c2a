import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { terminalWidth, wrapText } from '@serve-dist/foundation/terminal/wrap-text'
import type { StoreFlags } from './store-flags.ts'

/** A result that can be written as JSON. */
export interface CommandResult {
  readonly store: string
  readonly warnings?: readonly string[]
  readonly [key: string]: unknown
}

/** Writes warnings to standard error, then the result as JSON or as text. */
export function writeCommandResult(
  { json }: StoreFlags,
  outcome: CommandResult,
  describe: () => string,
): void {
  for (const warning of outcome.warnings ?? []) {
    process.stderr.write(`serve-dist: warning: ${escapeMessage(warning)}\n`)
  }
  const text =
    json === true
      ? JSON.stringify({ version: 1, ...outcome }, undefined, 2)
      : wrapText(describe(), terminalWidth(process.stdout))
  process.stdout.write(`${text}\n`)
}
