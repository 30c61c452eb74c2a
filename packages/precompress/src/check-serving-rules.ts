import { DocumentReader, readServingRules, servingRuleNames, type ServingRules } from '@serve-dist/manifest'
import leven from 'leven'

/**
 * Checks rules that a person wrote.
 *
 * @param place - where they stand, for the messages; `''` for a document of its own.
 * @throws TypeError that lists every wrong key (with the nearest right one) and every wrong value.
 */
export function checkServingRules(document: unknown, place: string): ServingRules {
  const problems: string[] = []
  const reader = new DocumentReader(place, document, problems)
  const rules = readServingRules(reader)
  for (const key of reader.keys()) {
    if (!servingRuleNames.includes(key)) {
      reader.field(key).problem(`there is no such rule; did you mean "${nearestName(key)}"?`)
    }
  }
  if (problems.length > 0) throw new TypeError(problems.join('\n'))
  return rules
}

function nearestName(key: string): string {
  const distance = (name: string): number => leven(name.toLowerCase(), key.toLowerCase())
  return servingRuleNames.toSorted((a, b) => distance(a) - distance(b))[0] ?? ''
}
