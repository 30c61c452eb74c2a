/** Whether a pattern takes files out; `!(a|b).js` is a pattern of its own. */
export function isNegative(pattern: string): boolean {
  return /^!(?!\()/.test(pattern)
}
