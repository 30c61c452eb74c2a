import { readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { siteInvalid } from './site-errors.ts'

/** A gzip variant in the folder, and the file that it must decode to. */
export interface DecodedFile {
  /** The address of the file, for messages. */
  readonly place: string
  readonly variant: string
  readonly size: number
  readonly sha256: string
}

/** The largest file in bytes that is decoded. Decoding happens in memory, and blocks for 7 ms (AMD EPYC), or 44 ms for a hostile variant. */
export const largestDecoded: number = 2 ** 20

/**
 * Decodes a file instead of downloading it. This saves a quarter of the requests and more than half of the bytes.
 *
 * @throws OperatorError `SD_SITE_INVALID`, before more than the bytes of the file are decoded.
 */
export async function decodeFile({ place, variant, size, sha256 }: DecodedFile): Promise<Buffer> {
  // Synchronous calls take a fraction of the CPU time. Signals and timers have their turn after a few files.
  await setImmediate()
  const encoded = readFileSync(variant)
  try {
    const bytes = gunzipSync(encoded, { maxOutputLength: size })
    if (bytes.length === size && sha256Of(bytes) === sha256) return bytes
  } catch {
    // The variant is not gzip, or too large.
  }
  throw siteInvalid(
    `${place}: its gzip variant does not decode to the digest and size of the file. Check what changes the files of the site, or deploy it again.`,
  )
}
