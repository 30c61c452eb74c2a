/** What is wrong with a value, in the same words everywhere; a text where a list is expected is shown as that list. */
export function describeMismatch(expected: string, value: unknown): string {
  const isLoneItem = expected.startsWith('a list') && typeof value === 'string'
  const found = isLoneItem ? `a string; write [${JSON.stringify(value)}]` : formatValue(value)
  return `expected ${expected}, found ${found}`
}

/** A value as it is quoted in a message; programs hand over what no JSON can hold, too. */
export function formatValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
  if (typeof value === 'bigint') return `${value}n`
  // NaN and Infinity.
  if (typeof value === 'number') return String(value)
  const text = toJson(value) ?? 'an object that JSON leaves out'
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}

function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    // A cycle, or a BigInt within.
    return 'an object that JSON cannot show'
  }
}
