/** A target as the contract reads it: decoded once, with slashes and backslashes left as escapes. */
export interface ReadTarget {
  readonly path: string
  readonly query: string
}

/** Reads a target octet by octet: `malformed` is a 400, `unclean` what is never repaired. */
export function readTarget(target: string): ReadTarget | 'malformed' | 'unclean' {
  const origin = /^https?:\/\/[^/]*(.*)$/i.exec(target)?.[1] ?? target
  const question = origin.indexOf('?')
  const raw = Buffer.from(question === -1 ? origin : origin.slice(0, question), 'latin1')
  const octets: number[] = []
  for (let index = 0; index < raw.length; index += 1) {
    const octet = raw[index] ?? 0
    if (octet !== 0x25) {
      octets.push(octet)
      continue
    }
    const digits = raw.toString('latin1', index + 1, index + 3)
    if (!/^[0-9a-f]{2}$/i.test(digits)) return 'malformed'
    const decoded = Number.parseInt(digits, 16)
    // What stays encoded is a character of its own here, which no file's name has.
    if (decoded === 0x2f || decoded === 0x5c) octets.push(...Buffer.from('\uE000'))
    else octets.push(decoded)
    index += 2
  }
  const path = decodeUtf8(Buffer.from(octets))
  if (path === undefined || /\p{Cc}/u.test(path)) return 'malformed'
  const segments = path.split('/').slice(1)
  const isClean =
    path.startsWith('/') &&
    !path.includes('\\') &&
    !segments.slice(0, -1).includes('') &&
    !segments.includes('.') &&
    !segments.includes('..')
  return isClean ? { path, query: question === -1 ? '' : origin.slice(question) } : 'unclean'
}

function decodeUtf8(octets: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets)
  } catch {
    // Octets that are no text are the client's mistake.
    return undefined
  }
}
