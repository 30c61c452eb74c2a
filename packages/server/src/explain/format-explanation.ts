import { documentUrl } from '@serve-dist/foundation/text/document-url'
import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { STATUS_CODES } from 'node:http'
import type { RequestFields } from '../protocol/request-fields.ts'
import type { Site } from '../site/site.ts'
import type { Explanation } from './explain.ts'
import { explainFields, removedFields } from './explain-fields.ts'

/** A request and the explanation of its answer. */
export interface ExplainedAnswer extends Explanation {
  readonly request: Pick<RequestFields, 'method' | 'target'>
  readonly given: readonly (readonly [string, string])[]
}

/** Formats an explanation as text: the answer, its steps, and its headers with their origins. */
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
    ...removedFields(site, explained).map((field) => `removed: ${field}`),
    '',
    `Names in parentheses are topics of ${documentUrl('http')}. The topic Fields explains the headers.`,
  ]
  return escapeMessage(lines.join('\n'))
}

/** Formats an explanation as JSON. Later versions may add properties. */
export function formatExplanationAsJson(site: Site, explained: ExplainedAnswer): string {
  const { request, given, answer, steps, resource, representation, range } = explained
  const isProxied = answer?.content.kind === 'proxied'
  return JSON.stringify(
    {
      version: 1,
      request: { method: request.method, target: request.target, fields: given },
      by: answer === undefined ? 'application' : isProxied ? 'target' : 'server',
      status: isProxied ? undefined : answer?.status,
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
  if (answer.content.kind === 'proxied')
    return `The target of the rule ${answer.content.rule.from} would answer. It was not asked.`
  const size = representation?.bytes.size
  const bytes = range === undefined ? `${size} bytes` : `bytes ${range.first} to ${range.last} of ${size}`
  return [
    `${answer.status} ${STATUS_CODES[answer.status] ?? ''}`,
    ...(resource === undefined ? [] : [resource.path]),
    ...(representation === undefined ? [] : [representation.coding, bytes]),
  ].join(' · ')
}
