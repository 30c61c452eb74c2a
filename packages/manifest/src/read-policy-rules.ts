import type { PolicyRules, PolicySource } from './content-security-policy.ts'
import type { DocumentReader } from './document-reader.ts'
import { directiveTakes, type PolicyDirective, policyDirectives } from './policy-directives.ts'
import { policySourceProblem } from './policy-source-problem.ts'

/** The names of all that the rule `csp` says. */
export const policyRuleNames: readonly string[] = [...policyDirectives, 'attributes', 'reportOnly']

/** Reads `true`, `false`, or an object of directives with the switches `attributes` and `reportOnly` beside them. */
export function readPolicyRules(csp: DocumentReader): boolean | PolicyRules {
  if (!csp.isObject) {
    if (typeof csp.value !== 'boolean') csp.expected('true, false, or an object of directives')
    return csp.value === true
  }
  const child = csp.field('child-src')
  const blocksWorkers = Array.isArray(child.value) && !child.value.includes("'self'")
  if (blocksWorkers && csp.field('worker-src').value === undefined) {
    child.problem(
      'it counts for workers too, and would block those of the build; write frame-src, or worker-src beside it',
    )
  }
  const attributes = csp.field('attributes')
  const reportOnly = csp.field('reportOnly')
  return {
    ...(attributes.value !== undefined && { attributes: attributes.boolean() }),
    ...(reportOnly.value !== undefined && { reportOnly: reportOnly.boolean() }),
    ...Object.fromEntries(
      policyDirectives
        .map((name) => [name, csp.field(name)] as const)
        .filter(([, sources]) => sources.value !== undefined)
        .map(([name, sources]) => [name, readSources(name, sources)]),
    ),
  }
}

function readSources(directive: PolicyDirective, sources: DocumentReader): readonly PolicySource[] | null {
  if (sources.value === null) return null
  const read = sources.list((source): PolicySource => readSource(directive, source))
  const texts = read.filter((source) => typeof source === 'string')
  const problem = Array.isArray(sources.value) ? listProblem(directive, read.length, texts) : undefined
  if (problem !== undefined) sources.problem(problem)
  return read
}

function readSource(directive: PolicyDirective, source: DocumentReader): PolicySource {
  const takes = directiveTakes(directive)
  if (source.isObject && (takes === 'code' || takes === 'places')) {
    return { env: source.field('env').where((name) => name !== '', 'the name of a value of "env"') }
  }
  const text = source.where(() => true, 'a text')
  if (typeof source.value !== 'string') return text
  const problem = policySourceProblem(directive, text)
  if (problem !== undefined) source.problem(problem)
  return text
}

/** What is wrong with the sources together. */
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
    return 'expected sources; write ["\'none\'"] to allow nothing, null to leave the directive out'
  if (count > 1 && texts.includes("'none'")) return "'none' counts alone; leave out it or the other sources"
  if (texts.includes("'unsafe-inline'") && texts.some((text) => text.startsWith("'sha"))) {
    return "'unsafe-inline' has no effect beside a hash; leave out one of them"
  }
  return undefined
}
