/** Returns whether a pattern excludes files. `!(a|b).js` is an ordinary pattern. */
export function isNegatedPattern(pattern: string): boolean {
  return /^!(?!\()/.test(pattern)
}
