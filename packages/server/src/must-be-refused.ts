/** RFC 9110 §4.2, §7.2: what a host and a port may be written with. */
const hostForm = /^[\w.~!$&'()*+,;=%:[\]-]*$/

/**
 * Whether a request that Node's parser lets through has to be answered with 400: more than one `Host` or a
 * malformed one (RFC 9112 §3.2), or a `Transfer-Encoding` that is not chunked, so that nothing tells where
 * its body ends (§6.3).
 *
 * @param rawFields - names and values by turns, as `IncomingMessage.rawHeaders` has them.
 */
export function mustBeRefused(rawFields: readonly string[]): boolean {
  let hosts = 0
  for (let index = 0; index + 1 < rawFields.length; index += 2) {
    const name = rawFields[index] ?? ''
    if (name === 'Host' || (name.length === 4 && name.toLowerCase() === 'host')) {
      hosts += 1
      if (hosts > 1 || !hostForm.test(rawFields[index + 1] ?? '')) return true
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      if (rawFields[index + 1]?.toLowerCase() !== 'chunked') return true
    }
  }
  return false
}
