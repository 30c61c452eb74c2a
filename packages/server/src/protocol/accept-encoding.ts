import type { ContentCoding, DeltaCoding } from '@serve-dist/manifest'

/** What a request selects between: a content coding, or none. */
export type RepresentationCoding = ContentCoding | 'identity'

/**
 * How much a client wants each coding: 0 refuses, else its q-value in ten-thousandths. Whole numbers: V8
 * would make an object of each fraction that is read by a computed name.
 */
export type CodingWeights = Readonly<Record<RepresentationCoding | DeltaCoding, number>>

/** Acceptable but not named: below every q-value that a field can give. */
const unnamedIdentity = 1

const identityOnly: CodingWeights = { zstd: 0, br: 0, gzip: 0, dcb: 0, dcz: 0, identity: unnamedIdentity }
// RFC 9110 §12.4.2: up to three digits; 1 is the most.
const member = /^([!#$%&'*+.^_`|~\w-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i

/**
 * Reads an `Accept-Encoding` field (RFC 9110 §12.5.3). Members that are malformed are ignored, an
 * absent or empty field accepts identity alone, and of a coding named twice the higher q-value counts.
 */
export function parseAcceptEncoding(field: string | undefined): CodingWeights {
  if (field === undefined || field === '') return identityOnly
  const named = new Map<string, number>()
  for (const item of field.split(',')) {
    const match = member.exec(item.trim())
    const token = match?.[1]?.toLowerCase()
    if (token === undefined) continue
    const name = token === 'x-gzip' ? 'gzip' : token
    const weight = Math.round(Number(match?.[2] ?? 1) * 1000) * 10
    named.set(name, Math.max(named.get(name) ?? 0, weight))
  }
  const others = named.get('*')
  return {
    zstd: named.get('zstd') ?? others ?? 0,
    br: named.get('br') ?? others ?? 0,
    gzip: named.get('gzip') ?? others ?? 0,
    // Who does not name them may not know dictionaries at all.
    dcb: named.get('dcb') ?? 0,
    dcz: named.get('dcz') ?? 0,
    identity: named.get('identity') ?? others ?? unnamedIdentity,
  }
}

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
