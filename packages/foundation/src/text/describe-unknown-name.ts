import { findNearestName } from './find-nearest-name.ts'

/** Describes an unknown name, with the valid name that the user probably meant, or else all valid names. */
export function describeUnknownName(noun: string, wanted: string, names: readonly string[]): string {
  const nearest = findNearestName(wanted, names)
  const cure = nearest === undefined ? `Valid ${noun}s: ${names.join(', ')}.` : `Did you mean "${nearest}"?`
  return `unknown ${noun}. ${cure}`
}
