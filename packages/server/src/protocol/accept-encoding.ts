import type { ContentCoding, DeltaCoding } from '@serve-dist/manifest'

/** A content coding, or none. */
export type RepresentationCoding = ContentCoding | 'identity'

/**
 * The weight of each coding: 0 for refused codings, otherwise the q-value times 10,000. Whole numbers,
 * because V8 would allocate an object for each fraction that is read by a computed name.
 */
export type CodingWeights = Readonly<Record<RepresentationCoding | DeltaCoding, number>>

/** The weight of an acceptable coding without a name, below every q-value of a field. */
const unnamedIdentity = 1

const identityOnly: CodingWeights = { zstd: 0, br: 0, gzip: 0, dcb: 0, dcz: 0, identity: unnamedIdentity }
// RFC 9110 §12.4.2: up to three digits, at most 1.
const member = /^([!#$%&'*+.^_`|~\w-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i

/**
 * Parses an `Accept-Encoding` field (RFC 9110 §12.5.3). It ignores malformed members. An absent or empty
 * field accepts only identity. If a coding appears twice, the higher q-value counts.
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
    // A wildcard does not include dictionary codings: the client may not know them.
    dcb: named.get('dcb') ?? 0,
    dcz: named.get('dcz') ?? 0,
    identity: named.get('identity') ?? others ?? unnamedIdentity,
  }
}

/** Limits of the cache. Browsers send only a few different fields. */
const maximumFields = 256
const maximumFieldLength = 256

const memo = new Map<string, CodingWeights>()

/** Parses an `Accept-Encoding` field with a cache. */
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
