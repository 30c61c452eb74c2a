import { OperatorError } from '@serve-dist/manifest'
import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { shortId } from '@serve-dist/foundation/text/short-id'

/**
 * Finds a build by its id or a prefix of it.
 *
 * @param ids - the ids of all builds.
 * @param given - an id, or an unambiguous prefix of one.
 * @throws OperatorError `SD_GENERATION_MISSING`.
 */
export function findGeneration(ids: Iterable<string>, given: string, place: string): string {
  const all = [...new Set(ids)]
  const found = given === '' ? [] : all.filter((id) => id.startsWith(given))
  const [only] = found
  if (only !== undefined && (found.length === 1 || only === given)) return only
  const problem =
    found.length > 1
      ? `several builds start with ${given}: ${joinFirstNames(found)}. Add more digits.`
      : `there is no build ${given}. ${all.length === 0 ? 'Publish a build first.' : `The store has ${joinFirstNames(all.map(shortId))}.`}`
  throw new OperatorError('SD_GENERATION_MISSING', `${place}: ${problem}`)
}
