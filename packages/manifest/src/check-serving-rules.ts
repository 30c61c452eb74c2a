import { OperatorError } from './operator-error.ts'
import { DocumentReader } from './document-reader.ts'
import { nearestName } from '@serve-dist/foundation/text/nearest-name'
import { policyConflicts } from './policy-conflicts.ts'
import { policyDirectives } from './policy-directives.ts'
import { policyRuleNames } from './read-policy-rules.ts'
import { readServingRules, redirectRuleNames, servingRuleNames } from './read-serving-rules.ts'
import type { ServingRules } from './serving-rules.ts'

/**
 * Checks rules that a person wrote.
 *
 * @param place - where they stand, for the messages; `''` for a document of its own.
 * @throws OperatorError that lists every wrong key (with the nearest right one) and every wrong value.
 */
export function checkServingRules(document: unknown, place: string): ServingRules {
  const problems: string[] = []
  const reader = new DocumentReader(place, document, problems)
  const rules = readServingRules(reader)
  refuseOtherKeys(reader, 'rule', servingRuleNames)
  // A wrong list has its problem already.
  const redirects = reader.field('redirects')
  if (Array.isArray(redirects.value))
    redirects.list((rule) => refuseOtherKeys(rule, 'key', redirectRuleNames))
  const csp = reader.field('csp')
  if (csp.isObject) {
    refuseOtherKeys(csp, 'directive', policyRuleNames)
    for (const name of policyDirectives) {
      const sources = csp.field(name)
      if (!Array.isArray(sources.value)) continue
      sources.list((source) => (source.isObject ? refuseOtherKeys(source, 'key', ['env']) : undefined))
    }
  }
  problems.push(...policyConflicts([{ place: place === '' ? '' : `${place}.`, rules }]))
  if (problems.length > 0) throw new OperatorError('SD_OPTION_INVALID', problems)
  return rules
}

function refuseOtherKeys(document: DocumentReader, what: string, names: readonly string[]): void {
  for (const key of document.keys()) {
    if (names.includes(key)) continue
    const nearest = nearestName(key, names)
    const cure = nearest === undefined ? `the ${what}s are ${names.join(', ')}` : `did you mean "${nearest}"?`
    document.field(key).problem(`there is no such ${what}; ${cure}`)
  }
}
