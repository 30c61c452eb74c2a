import type { PolicyRules, PolicySource } from './content-security-policy.ts'
import { directiveTakes, type PolicyDirective, policyDirectives } from './policy-directives.ts'
import { policySourceProblem } from './policy-source-problem.ts'
import * as s from './schema.ts'

/**
 * Creates the schema of `true`, `false`, or an object of directives with the switches `attributes` and `reportOnly`.
 *
 * @param formOf - returns the texts of problems for each kind of object.
 */
export function policyRules(formOf: (noun: string) => s.ObjectForm): s.Schema<boolean | PolicyRules> {
  const directives = policyDirectives.map(
    (name) => [name, s.optional(s.orNull(sources(name, formOf)))] as const,
  )
  const rules = s.objectOf<PolicyRules>(
    {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- there is one for each directive
      ...(Object.fromEntries(directives) as Record<PolicyDirective, (typeof directives)[number][1]>),
      attributes: s.optional(s.trueOrFalse),
      reportOnly: s.optional(s.trueOrFalse),
    },
    formOf('directive'),
  )
  const whole = s.checked(rules, ({ 'child-src': child, 'worker-src': worker }, note) => {
    if (!Array.isArray(child) || child.includes("'self'") || worker !== undefined) return
    note(
      'this directive applies to workers and would block those of the build. Use frame-src, or add worker-src.',
      'child-src',
    )
  })
  return s.objectOr(whole, s.booleanOf('true, false, or an object of directives'))
}

function sources(
  directive: PolicyDirective,
  formOf: (noun: string) => s.ObjectForm,
): s.Schema<readonly PolicySource[]> {
  const source = s.checked(s.text('a text'), (given, note) => note(policySourceProblem(directive, given)))
  const takes = directiveTakes(directive)
  const value = s.objectOf({ env: s.text('the name of a value of "env"', /./) }, formOf('key'))
  const list: s.Schema<readonly PolicySource[]> = s.listOf<PolicySource>(
    takes === 'code' || takes === 'places' ? s.objectOr(value, source) : source,
  )
  return s.checked(list, (given, note) => {
    const texts = given.filter((each) => typeof each === 'string')
    note(listProblem(directive, given.length, texts))
  })
}

function listProblem(
  directive: PolicyDirective,
  count: number,
  texts: readonly string[],
): string | undefined {
  switch (directiveTakes(directive)) {
    case 'permissions':
    case 'nothing':
      return undefined
    case 'endpoint':
      return count === 1 ? undefined : 'expected one endpoint'
    default:
      break
  }
  if (count === 0)
    return 'expected sources. Write ["\'none\'"] to allow nothing, or null to remove the directive.'
  if (count > 1 && texts.includes("'none'"))
    return "'none' must be the only source. Remove it or the other sources."
  if (texts.includes("'unsafe-inline'") && texts.some((text) => text.startsWith("'sha"))) {
    return "'unsafe-inline' has no effect next to a hash. Remove one of them."
  }
  return undefined
}
