import { documentUrl } from '@serve-dist/foundation/text/document-url'
import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { STATUS_CODES } from 'node:http'
import type { RequestFields } from '../protocol/request-fields.ts'
import type { Site } from '../site/site.ts'
import type { Explanation } from './explain.ts'
import { explainFields, removedFields } from './explain-fields.ts'

/** An answer with the request; without an answer, the application of `--ssr` answers. */
export interface ExplainedAnswer extends Explanation {
  readonly request: Pick<RequestFields, 'method' | 'target'>
  /** The fields of the request. */
  readonly given: readonly (readonly [string, string])[]
}

/** Formats an explanation for people: the answer, its steps, and its fields with what set them. */
export function formatExplanation(site: Site, explained: ExplainedAnswer): string {
  const { request, given, steps } = explained
  const fields = explainFields(site, explained)
  const lines = [
    `${request.method} ${request.target}`,
    ...given.map(([name, value]) => `${name}: ${value}`),
    '',
    summarize(explained),
    '',
    ...steps.flatMap(({ step, text, topic, details = [] }) =>
      [`${step}. ${text} (${topic})`, details.map((detail) => `   - ${detail}`)].flat(),
    ),
    ...(fields.length === 0 ? [] : ['']),
    ...fields.flatMap(({ name, value, why }) => [`${name}: ${value}`, `   ${why}`]),
    ...removedFields(site, explained).map((field) => `taken away: ${field}`),
    '',
    `In parentheses: the topic in ${documentUrl('http')}. Its topic Fields has the fields.`,
  ]
  return escapeMessage(lines.join('\n'))
}

/** Formats an explanation for programs. Later versions may add fields. */
export function formatExplanationAsJson(site: Site, explained: ExplainedAnswer): string {
  const { request, given, answer, steps, resource, representation, range } = explained
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
      fields: explainFields(site, explained),
      removed: removedFields(site, explained),
    },
    undefined,
    2,
  )
}

function summarize({ answer, resource, representation, range }: ExplainedAnswer): string {
  if (answer === undefined) return 'The application of --ssr answers.'
  const size = representation?.bytes.size
  const bytes = range === undefined ? `${size} bytes` : `bytes ${range.first} to ${range.last} of ${size}`
  return [
    `${answer.status} ${STATUS_CODES[answer.status] ?? ''}`,
    ...(resource === undefined ? [] : [resource.path]),
    ...(representation === undefined ? [] : [representation.coding, bytes]),
  ].join(' · ')
}
