import { describe, expect, test } from 'vitest'
import type { CheckReport } from './finding.ts'
import { formatReport, formatReportAsJson } from './format-report.ts'

const report: CheckReport = {
  target: 'dist',
  findings: [
    { code: 'a', level: 'error', text: 'one two three four', paths: ['x'] },
    { code: 'b', level: 'warning', text: 'five', paths: [] },
  ],
  right: ['six', 'seven'],
}

describe('formatReport', () => {
  test('writes one line for each finding without a terminal', () => {
    expect(formatReport(report, { colors: false, columns: undefined })).toBe(
      'error    one two three four [a]\nwarning  five [b]\nright    six · seven\n\ndist: 1 error, 1 warning',
    )
  })

  test('wraps at words to the width of a terminal', () => {
    expect(formatReport(report, { colors: false, columns: 17 })).toBe(
      'error    one two\n         three\n         four [a]\nwarning  five [b]\nright    six ·\n         seven\n\ndist: 1 error, 1 warning',
    )
  })

  test('keeps the lines and indents of an error of a start', () => {
    const findings = [{ code: 'one', level: 'error', text: 'one two:\n  three four', paths: [] } as const]
    expect(formatReport({ ...report, findings, right: [] }, { colors: false, columns: 18 })).toBe(
      'error    one two:\n           three\n           four\n\ndist: 1 error',
    )
  })

  test('colors the labels', () => {
    const colored = formatReport({ ...report, findings: [], right: [] }, { colors: true, columns: undefined })
    expect(colored).toBe('\ndist: no problems found')
    expect(formatReport(report, { colors: true, columns: undefined })).toContain(
      '\u001B[31merror\u001B[39m    one',
    )
  })

  test('writes one sentence if the check stopped', () => {
    const stopped = { ...report, stopped: 'It answers 401.', findings: [], right: [] }
    expect(formatReport(stopped, { colors: false, columns: undefined })).toBe(
      'stopped  It answers 401. This says nothing about the build.',
    )
  })
})

test('formatReportAsJson writes the same report as JSON', () => {
  expect(JSON.parse(formatReportAsJson(report))).toEqual({ version: 1, ...report })
})
