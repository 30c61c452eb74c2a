/** Fields as they were sent, names and values by turns: `IncomingMessage.rawHeaders`. */
type RawFields = readonly string[]

/** Where the next value of a field stands in a raw list, or -1; nothing is copied, for it runs on every request. */
export function findField(fields: RawFields, name: string, from = 0): number {
  for (let index = from; index + 1 < fields.length; index += 2) {
    if (equalsIgnoringCase(fields[index] ?? '', name)) return index + 1
  }
  return -1
}

/** The first value of a field: of those that must not be repeated, the one that counts. */
export function firstField(fields: RawFields, name: string): string | undefined {
  return fields[findField(fields, name)]
}

/** All lines of a list-based field as one (RFC 9110 §5.3). */
export function joinedField(fields: RawFields, name: string): string | undefined {
  const values: string[] = []
  for (let at = findField(fields, name); at !== -1; at = findField(fields, name, at + 1)) {
    values.push(fields[at] ?? '')
  }
  return values.length === 0 ? undefined : values.join(', ')
}

/**
 * Whether a name is this one in any case; without a copy in lower case. From the end, where names of one length
 * differ. In a token (RFC 9110 §5.6.2) the bit tells nothing but the case of a letter.
 */
export function equalsIgnoringCase(name: string, lowerCase: string): boolean {
  if (name.length !== lowerCase.length) return false
  for (let index = lowerCase.length - 1; index >= 0; index -= 1) {
    if ((name.charCodeAt(index) | 0x20) !== lowerCase.charCodeAt(index)) return false
  }
  return true
}

/** A request target taken apart (RFC 9112 §3.2). */
export interface RequestTarget {
  /** Whom an absolute form asks, without a user. */
  readonly authority: string | undefined
  /** As it was sent; `/` where an absolute form has none, `''` in asterisk form. */
  readonly path: string
  /** With its question mark; `''` without one. */
  readonly query: string
}

/** Asterisk form, absolute form of HTTP's own schemes, or origin form; none of them has a fragment. */
const targetForm = /^(?:\*|(?:https?:\/\/(?:[^/?#@]*@)?([^/?#@]*))?(\/[^?#]*)?(\?[^#]*)?)$/i

/** Takes a request target apart; `undefined` for what is none of these forms. */
export function splitTarget(target: string): RequestTarget | undefined {
  const form = targetForm.exec(target)
  if (form === null) return undefined
  const [, authority, path = authority === undefined ? '' : '/', query = ''] = form
  return { authority, path, query }
}

/** What a `Host` field or an authority names. */
export interface Host {
  /** As it was sent, an IPv6 address in its brackets. */
  readonly name: string
  /** Digits; `''` behind a colon alone. */
  readonly port: string | undefined
  /** Whether the name is one of DNS or an address, which every client reads alike. */
  readonly isPlain: boolean
}

/** RFC 3986 §3.2.2, §3.2.3: a name, an IPv4 address or one in brackets, and a port that exists. */
const hostForm =
  /^(\[(?:[\da-f:.]+|v[\da-f]+\.[\w.~!$&'()*+,;=:-]+)\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+)(?::(0*(?:\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])?))?$/i
const plainName = /^(?:[a-z\d_](?:[a-z\d._-]{0,252}[a-z\d_.])?|\[[\da-f:.]{2,45}\])$/i

/** Reads a host with or without a port; `undefined` for what is malformed. */
export function readHost(text: string): Host | undefined {
  const [, name, port] = hostForm.exec(text) ?? []
  return name === undefined ? undefined : { name, port, isPlain: plainName.test(name) }
}

/** The host that a request is for: HTTP/2 has `:authority` in the place of `Host` (RFC 9113 §8.3.1). */
export function requestHost(fields: RawFields): string | undefined {
  return firstField(fields, ':authority') ?? firstField(fields, 'host')
}

/**
 * Whether a request that Node's parser lets through has to be answered with 400: no `Host`, more than one, an empty or a
 * malformed one (RFC 9112 §3.2, RFC 9110 §4.2.1), or a `Transfer-Encoding` that is not chunked, so that nothing tells where
 * its body ends (§6.3), or any in HTTP/1.0, where somebody on the way may not know the field (§6.1).
 *
 * @param minorVersion - of HTTP/1.
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
