/** Alternating names and values, as in `IncomingMessage.rawHeaders`. */
type RawFields = readonly string[]

/**
 * Returns the position of the next value of a field, or -1. It copies nothing because it runs for every
 * request.
 */
export function findField(fields: RawFields, name: string, from = 0): number {
  for (let index = from; index + 1 < fields.length; index += 2) {
    if (equalsIgnoringCase(fields[index] ?? '', name)) return index + 1
  }
  return -1
}

/** Returns the first value of a field. */
export function firstField(fields: RawFields, name: string): string | undefined {
  return fields[findField(fields, name)]
}

/** Joins all lines of a list-based field (RFC 9110 §5.3). */
export function joinedField(fields: RawFields, name: string): string | undefined {
  const values: string[] = []
  for (let at = findField(fields, name); at !== -1; at = findField(fields, name, at + 1)) {
    values.push(fields[at] ?? '')
  }
  return values.length === 0 ? undefined : values.join(', ')
}

/**
 * Compares a name case-insensitively without a lower-case copy. It starts at the end, where names of equal
 * length differ most. In tokens (RFC 9110 §5.6.2), the bit 0x20 only changes the case of letters.
 */
export function equalsIgnoringCase(name: string, lowerCase: string): boolean {
  if (name.length !== lowerCase.length) return false
  for (let index = lowerCase.length - 1; index >= 0; index -= 1) {
    if ((name.charCodeAt(index) | 0x20) !== lowerCase.charCodeAt(index)) return false
  }
  return true
}

/** The parts of a request target (RFC 9112 §3.2). */
export interface RequestTarget {
  /** The authority of an absolute form, without the user. */
  readonly authority: string | undefined
  /** The path that was sent; `/` if an absolute form has no path, `''` in asterisk form. */
  readonly path: string
  /** The query with its question mark, or `''`. */
  readonly query: string
}

/** The asterisk form, the absolute form of `http` and `https`, or the origin form (also without a path). None has a fragment. */
const targetForm = /^(?:\*|(?:https?:\/\/(?:[^/?#@]*@)?([^/?#@]*))?(\/[^?#]*)?(\?[^#]*)?)$/i

/** Splits a request target; returns `undefined` for other forms. */
export function splitTarget(target: string): RequestTarget | undefined {
  const form = targetForm.exec(target)
  if (form === null) return undefined
  const [, authority, path = authority === undefined ? '' : '/', query = ''] = form
  return { authority, path, query }
}

/** The parts of a `Host` field or an authority. */
export interface Host {
  /** The name that was sent, including the brackets of an IPv6 address. */
  readonly name: string
  /** Digits; `''` after a colon without a port. */
  readonly port: string | undefined
  /** Whether the name is a DNS name or an address, which all clients interpret identically. */
  readonly isPlain: boolean
}

/** RFC 3986 §3.2.2, §3.2.3: a name, an IPv4 address or an address in brackets, and a valid port. */
const hostForm =
  /^(\[(?:[\da-f:.]+|v[\da-f]+\.[\w.~!$&'()*+,;=:-]+)\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+)(?::(0*(?:\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])?))?$/i
const plainName = /^(?:[a-z\d_](?:[a-z\d._-]{0,252}[a-z\d_.])?|\[[\da-f:.]{2,45}\])$/i

/** Parses a host with or without a port; returns `undefined` if it is malformed. */
export function readHost(text: string): Host | undefined {
  const [, name, port] = hostForm.exec(text) ?? []
  return name === undefined ? undefined : { name, port, isPlain: plainName.test(name) }
}

/** Returns the host of a request. HTTP/2 uses `:authority` instead of `Host` (RFC 9113 §8.3.1). */
export function requestHost(fields: RawFields): string | undefined {
  return firstField(fields, ':authority') ?? firstField(fields, 'host')
}

/**
 * Returns whether a request that Node's parser accepts must be answered with 400:
 *
 * - `Host` is missing, repeated, empty or malformed (RFC 9112 §3.2, RFC 9110 §4.2.1).
 * - `Transfer-Encoding` is not chunked, which leaves the end of the body undefined (§6.3).
 * - HTTP/1.0 has a `Transfer-Encoding`, which proxies may not know (§6.1).
 *
 * @param minorVersion - the minor version of HTTP/1.
 */
export function isInvalidHead(fields: RawFields, minorVersion = 1): boolean {
  const host = findField(fields, 'host')
  if (host === -1 ? minorVersion > 0 : !hostForm.test(fields[host] ?? '')) return true
  if (host !== -1 && findField(fields, 'host', host + 1) !== -1) return true
  const name = 'transfer-encoding'
  for (let at = findField(fields, name); at !== -1; at = findField(fields, name, at + 1)) {
    if (minorVersion === 0 || fields[at]?.toLowerCase() !== 'chunked') return true
  }
  return false
}
