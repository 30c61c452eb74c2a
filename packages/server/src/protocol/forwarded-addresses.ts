import { isIP } from 'node:net'
import { joinedField } from './request-head.ts'

/** A pair of `Forwarded` (RFC 7239 §4): a token, then a token or a quoted string. */
const pair = /([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*))/g

/**
 * Returns the addresses that proxies have recorded, the client's first. Entries that are not addresses
 * (`unknown`, a hidden name) are `undefined`. `X-Forwarded-For` takes precedence, because proxies that do
 * not know `Forwarded` (RFC 7239) pass on a client's field.
 *
 * @param rawFields - alternating names and values, as in `IncomingMessage.rawHeaders`.
 */
export function forwardedAddresses(rawFields: readonly string[]): (string | undefined)[] {
  const listed = joinedField(rawFields, 'x-forwarded-for')
  if (listed !== undefined) return listed.split(',').map(readNode)
  const forwarded = joinedField(rawFields, 'forwarded')
  return forwarded === undefined ? [] : elementsOf(forwarded).map(readFor)
}

/**
 * Splits the list from its end, which the last proxy wrote. An unclosed quote of a client then cannot hide
 * later elements.
 */
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

/** Parses an address, an IPv6 address in brackets, with or without a port (RFC 7239 §6). */
function readNode(text: string): string | undefined {
  const node = text.trim()
  const [, bracketed] = /^\[([^\]]*)\](?::\d+)?$/.exec(node) ?? []
  const [, withoutPort] = /^([\d.]+):\d+$/.exec(node) ?? []
  const address = bracketed ?? withoutPort ?? node
  // A zone is meaningful only on the proxy's own machine.
  return isIP(address) === 0 || address.includes('%') ? undefined : toPlainAddress(address)
}

/** Converts an IPv4-mapped IPv6 address to IPv4 (RFC 4291 §2.5.5.2). */
export function toPlainAddress(address: string): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? []
  return mapped ?? address
}
