import { policyDirectives, type PolicyRules, type PolicySource } from './content-security-policy.ts'
import type { DocumentReader } from './document-reader.ts'

/** Reads `true`, `false`, or an object of directives with the switches `attributes` and `reportOnly` beside them. */
export function readPolicyRules(csp: DocumentReader): boolean | PolicyRules {
  if (!csp.isObject) return csp.boolean()
  const { attributes, reportOnly } = {
    attributes: csp.field('attributes'),
    reportOnly: csp.field('reportOnly'),
  }
  return {
    ...(attributes.value !== undefined && { attributes: attributes.boolean() }),
    ...(reportOnly.value !== undefined && { reportOnly: reportOnly.boolean() }),
    ...Object.fromEntries(
      policyDirectives
        .map((name) => [name, csp.field(name)] as const)
        .filter(([, sources]) => sources.value !== undefined)
        .map(([name, sources]) => [name, readSources(sources)]),
    ),
  }
}

function readSources(sources: DocumentReader): readonly PolicySource[] | null {
  if (sources.value === null) return null
  return sources.list((source) => {
    if (source.isObject) return { env: source.field('env').where(() => true, 'the name of a value of "env"') }
    return source.where(() => true, 'a source')
  })
}
