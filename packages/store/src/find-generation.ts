import { OperatorError } from '@serve-dist/manifest'
import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'

/**
 * The build that somebody means.
 *
 * @param ids - of all builds.
 * @param given - an id, or its first digits where no other begins so.
 * @throws OperatorError `SD_GENERATION_MISSING`.
 */
export function findGeneration(ids: Iterable<string>, given: string, place: string): string {
  const all = [...new Set(ids)]
  const found = given === '' ? [] : all.filter((id) => id.startsWith(given))
  const [only] = found
  if (only !== undefined && (found.length === 1 || only === given)) return only
  const problem =
    found.length > 1
      ? `several builds begin with ${given}: ${joinFirstNames(found)}`
      : `has no build ${given}; ${all.length === 0 ? 'nothing was published yet' : `it has ${joinFirstNames(all)}`}`
  throw new OperatorError('SD_GENERATION_MISSING', `${place}: ${problem}`)
}
