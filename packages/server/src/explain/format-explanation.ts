import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { STATUS_CODES } from 'node:http'
import type { RequestFields } from '../protocol/request-fields.ts'
import type { Answer, Site } from '../site/site.ts'
import { explainFields, removedFields } from './explain-fields.ts'
import type { Explained } from './explanation.ts'

/** An answer that is sent, with what led to it. */
export interface ExplainedAnswer extends Explained {
  readonly request: Pick<RequestFields, 'method' | 'target'>
  /** Fields of the request as they were given. */
  readonly given: readonly (readonly [string, string])[]
  /** `undefined` where the application of `--ssr` answers. */
  readonly answer: Answer | undefined
}

/** An explanation for people: the answer, its steps, and its fields with what set them. */
export function formatExplanation(site: Site, explained: ExplainedAnswer): string {
  const { request, given, answer, steps, outcome } = explained
  const fields = answer === undefined ? [] : explainFields(site, answer, outcome)
  const removed = answer === undefined ? [] : removedFields(site, outcome)
  const lines = [
    `${request.method} ${request.target}`,
    ...given.map(([name, value]) => `${name}: ${value}`),
    '',
    summarize(explained),
    '',
    ...steps.flatMap(({ step, text, details = [], row }) =>
      [`${step}. ${text}`, details.map((detail) => `   - ${detail}`), `   (${row})`].flat(),
    ),
    ...(fields.length === 0 ? [] : ['']),
    ...fields.flatMap(({ name, value, why, row }) => [`${name}: ${value}`, `   ${why} (${row})`]),
    ...removed.map((field) => `taken away: ${field}`),
    '',
    'In parentheses: the section and the row of docs/http.md.',
  ]
  return escapeMessage(lines.join('\n'))
}

/** The same for programs; fields may be added, and none changes its meaning. */
export function formatExplanationAsJson(site: Site, explained: ExplainedAnswer): string {
  const { request, given, answer, steps, outcome } = explained
  const { resource, representation, range } = outcome
  return JSON.stringify(
    {
      version: 1,
      request: { method: request.method, target: request.target, fields: given },
      by: answer === undefined ? 'application' : 'server',
      status: answer?.status,
      file: resource?.path,
      coding: representation?.coding,
      size: representation?.bytes.size,
      range,
      steps,
      fields: answer === undefined ? [] : explainFields(site, answer, outcome),
      removed: answer === undefined ? [] : removedFields(site, outcome),
    },
    undefined,
    2,
  )
}

function summarize({ answer, outcome: { resource, representation, range } }: ExplainedAnswer): string {
  if (answer === undefined) return 'The application of --ssr answers.'
  const size = representation?.bytes.size
  const bytes = range === undefined ? `${size} bytes` : `bytes ${range.first} to ${range.last} of ${size}`
  return [
    `${answer.status} ${STATUS_CODES[answer.status] ?? ''}`,
    ...(resource === undefined ? [] : [resource.path]),
    ...(representation === undefined ? [] : [representation.coding, bytes]),
  ].join(' · ')
}
