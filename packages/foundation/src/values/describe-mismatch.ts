/** Describes a wrong value. For a text instead of a list, it shows the list to write. */
export function describeMismatch(expected: string, value: unknown): string {
  const isLoneItem = expected.startsWith('a list') && typeof value === 'string'
  const found = isLoneItem ? `a string. Write [${JSON.stringify(value)}].` : formatValue(value)
  return `expected ${expected}, found ${found}`
}

/** Formats a value for a message. Values without a JSON form are supported. */
export function formatValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
  if (typeof value === 'bigint') return `${value}n`
  // JSON has no NaN and no Infinity.
  if (typeof value === 'number') return String(value)
  const text = toJson(value) ?? 'an object without a JSON form'
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}

function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    // The value is cyclic or contains a BigInt.
    return 'an object that JSON cannot represent'
  }
}
