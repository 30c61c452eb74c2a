import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { styleText } from 'node:util'
import type { CheckReport } from './finding.ts'

export interface FormatOptions {
  readonly colors: boolean
  /** Of the terminal; a file and a pipe get one line for each finding. */
  readonly columns: number | undefined
}

/** Wide enough for every label, and one space. */
const margin = 9

/** The report for a person: errors, then warnings, then in one line what is right. */
export function formatReport(report: CheckReport, { colors, columns }: FormatOptions): string {
  const line = (label: Label, text: string): string => {
    // An error of a start has lines of its own.
    const lines = escapeMessage(text)
      .split('\n')
      .flatMap((part) => (columns === undefined ? [part] : wrap(part, columns - margin)))
    const painted = colors ? styleText(colorOf[label], label, { validateStream: false }) : label
    return painted + ' '.repeat(margin - label.length) + lines.join(`\n${' '.repeat(margin)}`)
  }
  const { target, findings, right, stopped } = report
  if (stopped !== undefined) return line('stopped', `${stopped} This says nothing about the build.`)
  return [
    ...findings.map(({ level, text }) => line(level, text)),
    ...(right.length === 0 ? [] : [line('right', right.join(' · '))]),
    '',
    `${target}: ${summarize(report)}`,
  ].join('\n')
}

/** The report for a program. */
export function formatReportAsJson({ target, stopped, findings, right }: CheckReport): string {
  return JSON.stringify({ version: 1, target, stopped, findings, right }, undefined, 2)
}

type Label = 'error' | 'warning' | 'right' | 'stopped'

const colorOf = { error: 'red', warning: 'yellow', right: 'green', stopped: 'red' } as const

function summarize({ findings }: CheckReport): string {
  const of = (level: string): number => findings.filter((finding) => finding.level === level).length
  const [errors, warnings] = [of('error'), of('warning')]
  if (errors + warnings === 0) return 'nothing wrong was found'
  return [
    ...(errors > 0 ? [pluralize(errors, 'error')] : []),
    ...(warnings > 0 ? [pluralize(warnings, 'warning')] : []),
  ].join(', ')
}

/** Lines of whole words, indented as the first; a longer word has a line of its own. */
function wrap(text: string, columns: number): string[] {
  const [indent = ''] = /^ */.exec(text) ?? []
  const lines: string[] = []
  let line = ''
  for (const word of text.slice(indent.length).split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > columns) {
      lines.push(indent + line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, indent + line]
}
