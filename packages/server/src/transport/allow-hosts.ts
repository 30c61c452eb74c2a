import type { IncomingMessage } from 'node:http'
import { misdirectedRequest } from '../site/answers.ts'
import type { RequestListener } from './transport.ts'
import { sendAnswer } from '../send/send-answer.ts'

// A name of DNS, an address of IPv4, or one of IPv6 in brackets; a wildcard for what is below a name.
const allowedForm = /^(?:(?:\*\.)?[a-z\d_](?:[a-z\d_.-]*[a-z\d_])?|\[[\da-f:.]+\])$/

/** Whether a value of `Host`, with or without a port, names a host of ours. */
export type HostMatcher = (host: string) => boolean

/**
 * Makes a matcher of hosts.
 *
 * @param names - `example.com` for this name alone, `*.example.com` for all below it; ports play no part.
 * @throws TypeError that names what is no host.
 */
export function createHostMatcher(names: readonly string[]): HostMatcher {
  const exact = new Set<string>()
  const suffixes: string[] = []
  for (const name of names) {
    const plain = name.toLowerCase()
    if (!allowedForm.test(plain)) {
      throw new TypeError(
        `expected the name of a host, such as example.com or *.example.com, without scheme, port and path, found ${JSON.stringify(name)}`,
      )
    }
    if (plain.startsWith('*.')) suffixes.push(plain.slice(1))
    else exact.add(plain)
  }
  return (host) => {
    const name = host.toLowerCase().replace(/\.?(?::\d*)?$/, '')
    return exact.has(name) || suffixes.some((suffix) => name.endsWith(suffix) && name.length > suffix.length)
  }
}

/**
 * Checks the option.
 *
 * @throws TypeError that names it, what was found and what is expected.
 */
export function checkHosts(names: unknown): void {
  if (!Array.isArray(names) || names.length === 0) {
    throw new TypeError(`allowHosts: expected a list of hosts, found ${JSON.stringify(names)}`)
  }
  try {
    createHostMatcher(names.map(String))
  } catch (cause) {
    throw new TypeError(`allowHosts: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** Answers requests for other hosts with 421 (RFC 9110 §15.5.20), before anybody else sees them. */
export function allowHosts(listener: RequestListener, names: readonly string[] | undefined): RequestListener {
  if (names === undefined) return listener
  const matches = createHostMatcher(names)
  return (request, response) => {
    const host = hostOf(request)
    if (host !== undefined && matches(host)) listener(request, response)
    else sendAnswer(response, misdirectedRequest)
  }
}

/** RFC 9112 §3.2.2: an absolute form outranks `Host`; RFC 9113 §8.3.1: so does `:authority`. */
function hostOf({ url = '', rawHeaders }: IncomingMessage): string | undefined {
  const [, authority] = /^[a-z][a-z\d+.-]*:\/\/(?:[^/?#@]*@)?([^/?#]*)/i.exec(url) ?? []
  if (authority !== undefined) return authority
  let host: string | undefined
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name === ':authority') return rawHeaders[index + 1]
    if (name?.length === 4 && name.toLowerCase() === 'host') host ??= rawHeaders[index + 1]
  }
  return host
}
