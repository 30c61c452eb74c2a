import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { type ContentCoding, variantPath } from '@serve-dist/manifest'
import { isMissing } from './is-missing.ts'

/** The codings whose variant has a free place beside the original, and the places that others hold. */
export interface Places {
  readonly free: readonly ContentCoding[]
  readonly taken: readonly string[]
}

/** A variant never replaces a file that is not ours, whatever its bytes are. */
export function findPlaces(
  folder: string,
  path: string,
  codings: readonly ContentCoding[],
  ours: ReadonlyMap<string, string>,
): Places {
  const free: ContentCoding[] = []
  const taken: string[] = []
  for (const coding of codings) {
    const place = variantPath(path, coding)
    const state = ours.has(place) ? 'free' : stateOf(join(folder, place))
    if (state === 'free') free.push(coding)
    if (state === 'taken') taken.push(place)
  }
  return { free, taken }
}

function stateOf(path: string): 'free' | 'taken' | 'impossible' {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined ? 'free' : 'taken'
  } catch (error) {
    // Anything else is a place where nothing can stand, such as a name that grew too long.
    return isMissing(error) ? 'free' : 'impossible'
  }
}
