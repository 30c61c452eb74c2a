import type { DocumentReader } from './document-reader.ts'
import { fieldProblem, isFieldValue } from './field-grammar.ts'
import { globProblem } from '@serve-dist/foundation/text/glob-problem'
import { show } from '@serve-dist/foundation/values/mismatch'
import { readPolicyRules } from './read-policy-rules.ts'
import { redirectSourceProblem, redirectTargetProblem } from './redirect-problem.ts'
import {
  fallbacks,
  preferences,
  sourceMapChoices,
  type FieldValues,
  type RedirectRule,
  type RedirectStatus,
  redirectStatuses,
  type ServingRules,
} from './serving-rules.ts'

type Read<Rules> = { readonly [Name in keyof Rules]-?: (rule: DocumentReader) => Rules[Name] }

/** One reader a rule: this table is the list of rules that there are. */
const readers: Read<ServingRules> = {
  prefer: (rule) => rule.oneOf(preferences),
  fallback: (rule) => rule.oneOf(fallbacks),
  immutable: readGlobs,
  cacheControl: (rule) =>
    rule.record((value, glob) => {
      noteGlobProblem(value, glob)
      return value.where(isFieldValue, 'a value of Cache-Control in ASCII')
    }),
  headers: (rule) =>
    rule.record((fields, glob) => {
      noteGlobProblem(fields, glob)
      return readFields(fields)
    }),
  redirects: (rule) => rule.list(readRedirect),
  securityHeaders: (rule) => rule.boolean(),
  csp: readPolicyRules,
  earlyHints: (rule) => rule.boolean(),
  cors: readGlobs,
  sourceMaps: (rule) => rule.oneOf(sourceMapChoices),
  sharedCache: (rule) => rule.boolean(),
}

/** The names of all rules. */
export const servingRuleNames: readonly string[] = Object.keys(readers)

/** The names of what a redirect says. */
export const redirectRuleNames: readonly (keyof RedirectRule)[] = ['from', 'to', 'status', 'force']

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

function readGlobs(rule: DocumentReader): readonly string[] {
  return rule.list(readGlob)
}

/** Reads one glob, and notes what is wrong with it. */
export function readGlob(glob: DocumentReader): string {
  const text = typeof glob.value === 'string' ? glob.value : ''
  noteGlobProblem(glob, text)
  return text
}

function noteGlobProblem(place: DocumentReader, glob: string): void {
  const problem = globProblem(glob)
  if (problem !== undefined) place.problem(`${problem}, found ${show(glob === '' ? place.value : glob)}`)
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
  if (!rule.isObject) {
    rule.expected('an object with "from" and "to"')
    return { from: '', to: '' }
  }
  const status = rule.field('status')
  const force = rule.field('force')
  const from = readPath(rule.field('from'), redirectSourceProblem)
  return {
    from,
    to: readPath(rule.field('to'), (to) => redirectTargetProblem(to, from)),
    ...(status.value !== undefined && { status: readStatus(status) }),
    ...(force.value !== undefined && { force: force.boolean() }),
  }
}

function readPath(path: DocumentReader, problemOf: (text: string) => string | undefined): string {
  const text = typeof path.value === 'string' ? path.value : ''
  const problem = problemOf(text)
  if (problem !== undefined) path.problem(`${problem}, found ${show(path.value)}`)
  return text
}

function readStatus(status: DocumentReader): RedirectStatus {
  const found = redirectStatuses.find((known) => known === status.value)
  if (found === undefined) status.expected(`one of ${redirectStatuses.join(', ')}`)
  return found ?? 308
}
