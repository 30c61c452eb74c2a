/** Whether a pattern takes files out; `!(a|b).js` is a pattern of its own. */
export function isNegatedPattern(pattern: string): boolean {
  return /^!(?!\()/.test(pattern)
}
