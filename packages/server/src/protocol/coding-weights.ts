import { type CodingWeights, parseAcceptEncoding } from './accept-encoding.ts'

/** Browsers send a handful of different fields; what is beyond these bounds is parsed each time. */
const maximumFields = 256
const maximumFieldLength = 256

const memo = new Map<string, CodingWeights>()

/** `parseAcceptEncoding`, remembered: the field is nearly always one of a few. */
export function codingWeights(field: string | undefined): CodingWeights {
  if (field === undefined) return parseAcceptEncoding(field)
  const known = memo.get(field)
  if (known !== undefined) return known
  const weights = parseAcceptEncoding(field)
  if (field.length <= maximumFieldLength) {
    if (memo.size >= maximumFields) memo.clear()
    memo.set(field, weights)
  }
  return weights
}
