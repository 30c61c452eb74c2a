import type { IncomingMessage } from 'node:http'
import { addressOfPeer, createAddressReader, type ProxyTrust, trustsPeer } from '../operations/trust-proxy.ts'
import { firstField, joinedField, requestHost } from '../protocol/request-head.ts'
import type { ProxyTarget } from '../site/site.ts'

/** The fields of a request for a target, and what the head says about the body. */
export interface FieldsToTarget {
  /** Alternating names and values. */
  readonly fields: string[]
  readonly hasBody: boolean
  /** The length of the body in bytes; `undefined` if it is unknown. */
  readonly length: number | undefined
}

/** RFC 9110 §7.6.1; trailers need no announcement. */
export const connectionFields: readonly string[] = [
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]
/** And fields that this server writes. */
const dropped: ReadonlySet<string> = new Set([...connectionFields, 'expect', 'host', 'http2-settings'])
const forwardedNames: ReadonlySet<string> = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
])

/** Creates a function that returns the fields of a request for a target. */
export function createFieldReader(
  trust: ProxyTrust | undefined,
): (request: IncomingMessage, target: Pick<ProxyTarget, 'host' | 'request'>) => FieldsToTarget {
  const readAddress = createAddressReader(trust)

  return (request, { host: hostOption, request: changes }) => {
    const { rawHeaders } = request
    const named = namesIn(joinedField(rawHeaders, 'connection'))
    const changed = Object.entries(changes)
    const removed = new Set(changed.map(([name]) => withoutUnderscores(name.toLowerCase())))
    const fields: string[] = []
    const host = requestHost(rawHeaders)
    if (hostOption === 'keep' && host !== undefined) fields.push('Host', host)
    let hasBody = false
    let length: number | undefined
    let cookies: string | undefined
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const [name = '', value = ''] = [rawHeaders[index], rawHeaders[index + 1]]
      const key = name.toLowerCase()
      if (key === 'content-length') {
        length = Number(value)
        hasBody = length > 0
      } else if (key === 'transfer-encoding') hasBody = true
      const same = withoutUnderscores(key)
      // CGI programs read `Proxy` as the variable HTTP_PROXY.
      if (dropped.has(same) || forwardedNames.has(same) || /^proxy(?:-|$)/.test(same)) continue
      // A second length, for servers with CGI variables.
      if (key !== same && same === 'content-length') continue
      // Pseudo-fields of HTTP/2.
      if (key.startsWith(':') || named?.has(key) === true || named?.has(same) === true || removed.has(same))
        continue
      // RFC 9113 §8.2.3: HTTP/2 may split a cookie.
      if (key === 'cookie') cookies = cookies === undefined ? value : `${cookies}; ${value}`
      else fields.push(name, value)
    }
    if (cookies !== undefined) fields.push('Cookie', cookies)
    const added: [string, string | undefined][] = forwardedFields(request, host)
    for (const [name, value] of added) {
      if (value !== undefined && !removed.has(name.toLowerCase())) fields.push(name, value)
    }
    for (const [name, value] of changed) if (value !== null) fields.push(name, value)
    return { fields, hasBody: hasBody || hasStreamBody(request), length }
  }

  function forwardedFields(
    request: IncomingMessage,
    host: string | undefined,
  ): [string, string | undefined][] {
    const { rawHeaders, socket } = request
    const peer = addressOfPeer(socket)
    const address = peer === '' ? undefined : peer
    const isTrusted = trust !== undefined && trustsPeer(trust, peer, 0)
    const kept = (name: string): string | undefined => (isTrusted ? firstField(rawHeaders, name) : undefined)
    const list = isTrusted ? joinedField(rawHeaders, 'x-forwarded-for') : undefined
    return [
      [
        'X-Forwarded-For',
        list === undefined || address === undefined ? (list ?? address) : `${list}, ${address}`,
      ],
      ['X-Forwarded-Proto', kept('x-forwarded-proto') ?? ('encrypted' in socket ? 'https' : 'http')],
      ['X-Forwarded-Host', kept('x-forwarded-host') ?? host],
      ['X-Real-IP', kept('x-real-ip') ?? (isTrusted ? readAddress(request) || address : address)],
      ['Forwarded', isTrusted ? joinedField(rawHeaders, 'forwarded') : undefined],
    ]
  }
}

/** Returns the lower-case names in a `Connection` field. */
export function namesIn(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || connection.toLowerCase() === 'keep-alive') return undefined
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()))
}

/** Servers with CGI variables treat `x_real_ip` like `x-real-ip`. */
function withoutUnderscores(name: string): string {
  return name.includes('_') ? name.replaceAll('_', '-') : name
}

/** Over HTTP/2, a body needs no field. */
function hasStreamBody(request: IncomingMessage): boolean {
  return 'stream' in request && Object(request.stream).endAfterHeaders === false
}
