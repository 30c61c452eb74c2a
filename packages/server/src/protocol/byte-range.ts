/** A range of bytes, both ends included. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

// RFC 9110 §14.1.1, with the optional white space and commas of §5.6.1.
const singleRange = /^bytes=[ \t,]*(\d*)-(\d*)[ \t,]*$/i

/**
 * Parses a `Range` field for a representation of `size` bytes (RFC 9110 §14.2). Returns `undefined` if the
 * field must be ignored: another unit, several ranges, or malformed.
 */
export function parseByteRange(field: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  const match = singleRange.exec(field)
  const [firstDigits, lastDigits] = [match?.[1] ?? '', match?.[2] ?? '']
  if (firstDigits === '' && lastDigits === '') return undefined
  if (firstDigits === '') return suffixRange(Number(lastDigits), size)
  const first = Number(firstDigits)
  const last = lastDigits === '' ? Number.POSITIVE_INFINITY : Number(lastDigits)
  // Numbers above 2^53 lose digits but exceed every size. Only their order needs all digits.
  if (last < first || (last === first && isLess(lastDigits, firstDigits))) return undefined
  if (first >= size) return 'unsatisfiable'
  return { first, last: Math.min(last, size - 1) }
}

function suffixRange(length: number, size: number): ByteRange | 'unsatisfiable' | undefined {
  if (length === 0) return 'unsatisfiable'
  // A suffix of an empty file is satisfiable (§14.1.2), but Content-Range cannot express it.
  if (size === 0) return undefined
  return { first: Math.max(0, size - length), last: size - 1 }
}

function isLess(a: string, b: string): boolean {
  if (a === '') return false
  const [left, right] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')]
  return left.length === right.length ? left < right : left.length < right.length
}
