import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { wrapText } from '@serve-dist/foundation/terminal/wrap-text'
import { styleText } from 'node:util'
import type { CheckReport } from './finding.ts'

export interface FormatOptions {
  readonly colors: boolean
  /** The width of the terminal. Absent for files and pipes, where each finding is one line. */
  readonly columns: number | undefined
}

/** The width of the label column: the longest label and two spaces. */
const margin = 9

/** Formats a report as text: errors, warnings, and one line of aspects without a finding. */
export function formatReport(report: CheckReport, { colors, columns }: FormatOptions): string {
  const line = (label: Label, text: string): string => {
    // The error of a start can have several lines.
    const lines = wrapText(escapeMessage(text), columns === undefined ? undefined : columns - margin).split(
      '\n',
    )
    const painted = colors ? styleText(colorOf[label], label, { validateStream: false }) : label
    return painted + ' '.repeat(margin - label.length) + lines.join(`\n${' '.repeat(margin)}`)
  }
  const { target, findings, right, stopped } = report
  if (stopped !== undefined) return line('stopped', `${stopped} This says nothing about the build.`)
  return [
    // The error of a start begins with its code.
    ...findings.map(({ code, level, text }) =>
      line(level, text.startsWith(code) ? text : `${text} [${code}]`),
    ),
    ...(right.length === 0 ? [] : [line('right', right.join(' · '))]),
    '',
    `${target}: ${summarize(report)}`,
  ].join('\n')
}

export function formatReportAsJson({ target, stopped, findings, right }: CheckReport): string {
  return JSON.stringify({ version: 1, target, stopped, findings, right }, undefined, 2)
}

type Label = 'error' | 'warning' | 'right' | 'stopped'

const colorOf = { error: 'red', warning: 'yellow', right: 'green', stopped: 'red' } as const

function summarize({ findings }: CheckReport): string {
  const of = (level: string): number => findings.filter((finding) => finding.level === level).length
  const [errors, warnings] = [of('error'), of('warning')]
  if (errors + warnings === 0) return 'no problems found'
  return [
    ...(errors > 0 ? [pluralize(errors, 'error')] : []),
    ...(warnings > 0 ? [pluralize(warnings, 'warning')] : []),
  ].join(', ')
}
