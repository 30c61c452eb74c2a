import { describeUnknownName } from '@serve-dist/foundation/text/describe-unknown-name'
import { formatValue } from '@serve-dist/foundation/values/describe-mismatch'
import { fieldProblem, isFieldValue } from './field-grammar.ts'
import { glob } from './glob-schema.ts'
import { beside, conflictingFields } from './policy-conflicts.ts'
import { policyRules } from './policy-rules-schema.ts'
import { environmentName, isProxyRule, proxyOptions } from './proxy-options-schema.ts'
import {
  redirectQueryProblem,
  redirectSourceProblem,
  redirectTargetForm,
  redirectTargetProblem,
} from './redirect-problem.ts'
import * as s from './schema.ts'
import {
  type BasicAuthRule,
  type EnvironmentAddress,
  fallbacks,
  type EnvironmentText,
  preferences,
  type ProxyFields,
  type RedirectRule,
  redirectStatuses,
  type ServingRules,
  sourceMapChoices,
} from './serving-rules.ts'

function fieldValues(form: s.ObjectForm): s.Schema<ProxyFields> {
  const text = s.orNull(s.text('the value of a field, an object with "env", or null'))
  return s.checked(s.recordOf(s.objectOr(variable(form), text)), (fields, note) => {
    for (const [name, value] of Object.entries(fields))
      note(fieldProblem(name, typeof value === 'string' ? value : ''), name)
  })
}

function variable(form: s.ObjectForm): s.Schema<EnvironmentText> {
  return s.objectOf<EnvironmentText>({ env: environmentName }, { ...form, what: 'an object with "env"' })
}

/** The path of health checks. */
export const healthPath: s.Schema<string> = s.text(
  'a path such as "/healthz", without a query and wildcards',
  /^\/(?![/\\])[^\s?#*:\p{Cc}\p{Cs}]*$/u,
)

function basicAuth(form: s.ObjectForm): s.Schema<BasicAuthRule> {
  return s.objectOf<BasicAuthRule>(
    { env: environmentName, except: s.optional(s.listOf(glob)) },
    { ...form, what: 'an object with "env"' },
  )
}

function redirect(form: s.ObjectForm): s.Schema<RedirectRule> {
  const fields = s.objectOf<RedirectRule>(
    {
      from: s.text('a path such as "/old/*"'),
      query: s.optional(s.recordOf(s.text('a value such as "1", or a variable such as ":id"'))),
      to: s.objectOr(
        s.objectOf<EnvironmentAddress>({ env: environmentName, path: s.optional(s.text('a path')) }, form),
        s.text(`${redirectTargetForm}, or an object with "env"`),
      ),
      status: s.optional(s.oneOf(redirectStatuses)),
      force: s.optional(s.trueOrFalse),
      ...proxyOptions(form),
    },
    { ...form, what: 'an object with "from" and "to"', missingKey: describeMissingPage },
  )
  return s.checked(fields, (rule, note) => {
    const { from, to, query } = rule
    const isProxied = isProxyRule(rule)
    // The path of an address from the environment is checked like the path of this host.
    const written = typeof to === 'string' ? to : (to.path ?? '/')
    const source = redirectSourceProblem(from)
    const target =
      redirectTargetProblem(written, from, {
        ...(query !== undefined && { query }),
        isProxied: isProxied && typeof to === 'string',
      }) ??
      (isProxied && typeof to !== 'string' && /[?#]/.test(written)
        ? 'expected a path without a query'
        : undefined)
    if (source !== undefined) note(`${source}, found ${formatValue(from)}`, 'from')
    else note(redirectQueryProblem(from, query), 'query')
    if (target !== undefined) note(`${target}, found ${formatValue(written)}`, 'to')
    if (isProxied) return
    for (const name of ['timeout', 'bodyLimit', 'host', 'development', 'request', 'answer'] as const) {
      if (rule[name] !== undefined) note('only valid for a rule with status 200 and an address', name)
    }
  })
}

function describeMissingPage(key: string, { status }: Readonly<Record<string, unknown>>): string | undefined {
  return key === 'to' && (status === 404 || status === 503)
    ? `status ${status} needs a page of the build: expected its path, such as "/${status}.html", found nothing`
    : undefined
}

function fieldsOf(formOf: (noun: string) => s.ObjectForm): s.Fields<ServingRules> {
  const globs = s.listOf(glob)
  const form = formOf('key')
  const cacheControl = s.text('a value of Cache-Control in ASCII', isFieldValue)
  return {
    prefer: s.optional(s.oneOf(preferences)),
    fallback: s.optional(s.oneOf(fallbacks)),
    immutable: s.optional(globs),
    cacheControl: s.optional(s.recordOf(s.objectOr(variable(form), cacheControl), glob)),
    headers: s.optional(s.recordOf(fieldValues(form), glob)),
    redirects: s.optional(s.listOf(redirect(form))),
    securityHeaders: s.optional(s.trueOrFalse),
    csp: s.optional(s.lazy(() => policyRules(formOf))),
    earlyHints: s.optional(s.trueOrFalse),
    cors: s.optional(globs),
    sourceMaps: s.optional(s.oneOf(sourceMapChoices)),
    sharedCache: s.optional(s.trueOrFalse),
    keptList: s.optional(s.trueOrFalse),
    health: s.optional(healthPath),
    basicAuth: s.optional(s.orNull(basicAuth(form))),
  }
}

/** Returns the names of all rules. */
export function servingRuleNames(): readonly string[] {
  return Object.keys(fieldsOf(() => ({})))
}

/** The rules in a document from a program. Unknown names are ignored. */
export const servingRules: s.Schema<ServingRules> = s.lazy(() =>
  s.objectOf<ServingRules>(fieldsOf(() => ({}))),
)

/** One redirect of such a document. */
export const redirectRule: s.Schema<RedirectRule> = s.lazy(() => redirect({}))

/** The rules that a user wrote. Unknown names are problems. */
export const writtenServingRules: s.Schema<ServingRules> = s.lazy(() =>
  s.checked(s.objectOf<ServingRules>(fieldsOf(refusingUnknown), refusingUnknown('rule')), (rules, note) => {
    for (const place of conflictingFields(rules)) note(beside, 'headers', ...place)
  }),
)

function refusingUnknown(noun: string): s.ObjectForm {
  return {
    unknownKey: (key, known) => describeUnknownName(noun, key, known),
  }
}
