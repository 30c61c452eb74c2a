import { describeMismatch } from '@serve-dist/foundation/values/describe-mismatch'
import { s, type Schema } from '@serve-dist/manifest'
import { readHost, requestHost } from '../protocol/request-head.ts'
import { misdirectedRequest } from '../site/answers.ts'
import type { RequestListener } from './transport.ts'
import { sendAnswer } from '../send/send-answer.ts'

/** Returns whether a value of `Host`, with or without a port, is an allowed host. */
export type HostMatcher = (host: string) => boolean

/**
 * Creates a matcher of hosts.
 *
 * @param names - `example.com` matches only this name; `*.example.com` matches all names below it. Ports
 *   are ignored.
 * @throws TypeError that names the invalid host.
 */
export function createHostMatcher(names: readonly string[]): HostMatcher {
  const exact = new Set<string>()
  const suffixes: string[] = []
  for (const name of names) {
    const plain = name.toLowerCase()
    if (!isNameOfHost(plain.replace(/^\*\./, ''))) {
      throw new TypeError(
        `expected a host name such as example.com or *.example.com, without scheme, port and path, found ${JSON.stringify(name)}`,
      )
    }
    if (plain.startsWith('*.')) suffixes.push(plain.slice(1))
    else exact.add(plain)
  }
  return (host) => {
    // An application may interpret escapes and special characters as another host when it builds a URL.
    const { name: sent = '', isPlain = false } = readHost(host) ?? {}
    if (!isPlain) return false
    const name = sent.toLowerCase().replace(/\.$/, '')
    return exact.has(name) || suffixes.some((suffix) => name.endsWith(suffix) && name.length > suffix.length)
  }
}

function isNameOfHost(text: string): boolean {
  const host = readHost(text)
  return host?.isPlain === true && host.port === undefined && !text.endsWith('.')
}

/** The option: a list of names for {@link createHostMatcher}. */
export const hostList: Schema<readonly string[]> = s.readableBy((names: readonly string[]) => {
  if (!Array.isArray(names) || names.length === 0)
    throw new TypeError(describeMismatch('a list of hosts', names))
  createHostMatcher(names.map(String))
  return names
})

/** Answers requests for other hosts with 421 (RFC 9110 §15.5.20), before any other handler. */
export function allowHosts(listener: RequestListener, names: readonly string[] | undefined): RequestListener {
  if (names === undefined) return listener
  const matches = createHostMatcher(names)
  return (request, response) => {
    const host = requestHost(request.rawHeaders)
    if (host !== undefined && matches(host)) listener(request, response)
    else sendAnswer(response, misdirectedRequest)
  }
}
