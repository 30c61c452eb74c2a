import { isIP } from 'node:net'
import { joinedField } from './request-head.ts'

/** One of `Forwarded`'s pairs (RFC 7239 §4): a token, then a token or a quoted string. */
const pair = /([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*))/g

/**
 * The addresses that proxies have noted, the client's own first; what is no address (`unknown`, a hidden
 * name) is `undefined`. `X-Forwarded-For` counts where both fields are there: proxies that know nothing of
 * `Forwarded` (RFC 7239) pass on a client's.
 *
 * @param rawFields - names and values by turns, as `IncomingMessage.rawHeaders` has them.
 */
export function forwardedAddresses(rawFields: readonly string[]): (string | undefined)[] {
  const listed = joinedField(rawFields, 'x-forwarded-for')
  if (listed !== undefined) return listed.split(',').map(readNode)
  const forwarded = joinedField(rawFields, 'forwarded')
  return forwarded === undefined ? [] : elementsOf(forwarded).map(readFor)
}

/** From the end, where the last proxy wrote: a quote that a client left open takes in nothing of what follows it. */
function elementsOf(list: string): string[] {
  const elements: string[] = []
  let isQuoted = false
  let end = list.length
  for (let at = end - 1; at >= 0; at -= 1) {
    if (list[at] === '"' && !isEscaped(list, at)) isQuoted = !isQuoted
    else if (list[at] === ',' && !isQuoted) {
      elements.push(list.slice(at + 1, end))
      end = at
    }
  }
  return [...elements, list.slice(0, end)].toReversed()
}

function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text[first - 1] === '\\') first -= 1
  return (at - first) % 2 === 1
}

function readFor(text: string): string | undefined {
  for (const [, name, quoted, token] of text.matchAll(pair)) {
    if (name?.toLowerCase() === 'for') return readNode(quoted?.replace(/\\(.)/g, '$1') ?? token ?? '')
  }
  return undefined
}

/** RFC 7239 §6: an address, of IPv6 in brackets, with or without a port. */
function readNode(text: string): string | undefined {
  const node = text.trim()
  const [, bracketed] = /^\[([^\]]*)\](?::\d+)?$/.exec(node) ?? []
  const [, withoutPort] = /^([\d.]+):\d+$/.exec(node) ?? []
  const address = bracketed ?? withoutPort ?? node
  // A zone means something to the proxy's own machine alone.
  return isIP(address) === 0 || address.includes('%') ? undefined : toPlainAddress(address)
}

/** An IPv4 address as such, also where a socket of IPv6 shows it (RFC 4291 §2.5.5.2). */
export function toPlainAddress(address: string): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? []
  return mapped ?? address
}
