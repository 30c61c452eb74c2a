import { groupDigits } from './group-digits.ts'

/** Joins the first names of a list: `a, b, c and 9 more`. */
export function joinFirstNames(names: readonly string[]): string {
  const rest = names.length - 3
  return names.slice(0, 3).join(', ') + (rest > 0 ? ` and ${groupDigits(rest)} more` : '')
}
