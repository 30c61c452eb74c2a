/** RFC 3986 §3.2.2, §3.2.3: a name, an IPv4 address or one in brackets, and a port that there is. */
const hostForm =
  /^(?:\[(?:[\da-f:.]+|v[\da-f]+\.[\w.~!$&'()*+,;=:-]+)\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::0*(?:\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])?)?$/i

/**
 * Whether a request that Node's parser lets through has to be answered with 400: no `Host`, more than
 * one or a malformed one (RFC 9112 §3.2), or a `Transfer-Encoding` that is not chunked, so that nothing tells where
 * its body ends (§6.3), or any in HTTP/1.0, where somebody on the way may not know the field (§6.1).
 *
 * @param rawFields - names and values by turns, as `IncomingMessage.rawHeaders` has them.
 * @param minorVersion - of HTTP/1.
 */
export function mustBeRefused(rawFields: readonly string[], minorVersion = 1): boolean {
  let hosts = 0
  for (let index = 0; index + 1 < rawFields.length; index += 2) {
    const name = rawFields[index] ?? ''
    if (name === 'Host' || (name.length === 4 && name.toLowerCase() === 'host')) {
      hosts += 1
      if (hosts > 1 || !hostForm.test(rawFields[index + 1] ?? '')) return true
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      if (minorVersion === 0 || rawFields[index + 1]?.toLowerCase() !== 'chunked') return true
    }
  }
  return hosts === 0 && minorVersion > 0
}
