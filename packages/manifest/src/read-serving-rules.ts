import type { DocumentReader } from './document-reader.ts'
import {
  type FieldValues,
  type RedirectRule,
  type RedirectStatus,
  redirectStatuses,
  type ServingRules,
} from './serving-rules.ts'

// RFC 9110 §5.6.2 and §5.5.
const fieldName = /^[!#$%&'*+.^_`|~\w-]+$/
const fieldValue = /^[\t\x20-\x7E\x80-\xFF]*$/
const redirectSource = /^\/(?!\/)[^\s?#]*$/
const redirectTarget = /^(?:\/(?![/\\])|https?:\/\/)[\x21-\x7E]*$/

/** Fields that say how a message is framed or what the build itself knows: nobody else may set them. */
const ownFields: ReadonlySet<string> = new Set([
  'accept-ranges',
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'date',
  'etag',
  'keep-alive',
  'last-modified',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

type Read<Rules> = { readonly [Name in keyof Rules]-?: (rule: DocumentReader) => Rules[Name] }

/** One reader a rule: this table is the list of rules that there are. */
const readers: Read<ServingRules> = {
  prefer: (rule) => rule.oneOf(['order', 'smallest']),
  fallback: (rule) => rule.oneOf(['spa', '404', 'none']),
  immutable: readGlobs,
  cacheControl: (rule) => rule.record((value) => value.matching(fieldValue, 'a value of Cache-Control')),
  headers: (rule) => rule.record(readFields),
  redirects: (rule) => rule.list(readRedirect),
  securityHeaders: (rule) => rule.boolean(),
  earlyHints: (rule) => rule.boolean(),
  cors: readGlobs,
  sourceMaps: (rule) => rule.oneOf(['serve', 'deny']),
}

/** The names of all rules. */
export const servingRuleNames: readonly string[] = Object.keys(readers)

/** Reads the rules that are there and notes what is wrong with them; other keys are not looked at. */
export function readServingRules(document: DocumentReader): ServingRules {
  if (!document.isObject) document.expected('an object')
  const rules: Record<string, unknown> = {}
  for (const [name, read] of Object.entries(readers)) {
    const rule = document.field(name)
    if (rule.value !== undefined) rules[name] = read(rule)
  }
  return rules
}

/** Why nobody may set this field to this value, or `undefined` when it may be set. */
export function fieldProblem(name: string, value: string): string | undefined {
  if (!fieldName.test(name)) return `"${name}" is not the name of a field`
  if (ownFields.has(name.toLowerCase())) return `serve-dist sets the field ${name} itself`
  return fieldValue.test(value) ? undefined : `the value of ${name} holds characters that no field may have`
}

function readGlobs(rule: DocumentReader): readonly string[] {
  return rule.list((glob) => glob.where((text) => text !== '', 'a glob'))
}

function readFields(fields: DocumentReader): FieldValues {
  return fields.record((value, name) => {
    const text = value.value === null ? null : value.where(() => true, 'the value of a field, or null')
    const problem = fieldProblem(name, text ?? '')
    if (problem !== undefined) value.problem(problem)
    return text
  })
}

function readRedirect(rule: DocumentReader): RedirectRule {
  const status = rule.field('status')
  const force = rule.field('force')
  return {
    from: rule.field('from').where(isSource, 'a path such as "/old/*", with "*" only at its end'),
    to: rule.field('to').matching(redirectTarget, 'a path that begins with one "/", or an http(s) URL'),
    ...(status.value !== undefined && { status: readStatus(status) }),
    ...(force.value !== undefined && { force: force.boolean() }),
  }
}

function readStatus(status: DocumentReader): RedirectStatus {
  const found = redirectStatuses.find((known) => known === status.value)
  if (found === undefined) status.expected(`one of ${redirectStatuses.join(', ')}`)
  return found ?? 308
}

function isSource(text: string): boolean {
  return redirectSource.test(text) && !/\*./.test(text)
}
