import type { DeltaCoding } from './content-coding.ts'

/** The bytes before the digest of the dictionary, in hexadecimal digits. */
const magic: Readonly<Record<DeltaCoding, string>> = { dcz: '5e2a4d1820000000', dcb: 'ff444342' }

/**
 * Returns the first bytes of a delta (RFC 9842 §4, §5).
 *
 * @param dictionary - the SHA-256 of the dictionary in hexadecimal digits.
 */
export function deltaHeader(coding: DeltaCoding, dictionary: string): Uint8Array {
  return Buffer.from(magic[coding] + dictionary, 'hex')
}
