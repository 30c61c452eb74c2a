import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { createHash } from 'node:crypto'
import http, { type IncomingHttpHeaders } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { connect } from 'node:tls'
import { type DecodedBody, decodeBody } from './decode-body.ts'

/** How to connect to a site. */
export interface SiteAccess {
  readonly origin: URL
  /** Headers of every request, such as `Authorization`. */
  readonly fields: Readonly<Record<string, string>>
  /** The IP address to connect to, instead of the resolved one. */
  readonly address: string | undefined
  /** Whether to accept any certificate. */
  readonly insecure: boolean
  readonly concurrency: number
  /** Aborts all requests when the time of the check ends. */
  readonly signal: AbortSignal
}

export interface SiteRequest {
  /** The percent-encoded path on the host. */
  readonly path: string
  readonly method?: 'GET' | 'HEAD'
  readonly fields?: Readonly<Record<string, string>>
  /** The size of the decoded file in bytes. */
  readonly size?: number
  /** Whether to use a separate connection, which a load balancer may route to another replica. */
  readonly isApart?: boolean
}

/** A response without its body. */
export interface SiteResponse {
  readonly status: number
  readonly fields: IncomingHttpHeaders
  /** The size of the encoded body in bytes. */
  readonly size: number
  /** The digest of the encoded body in lower-case hexadecimal. */
  readonly sha256: string
  /** `Content-Encoding` in lower case; `identity` without one. */
  readonly coding: string
  /** The result of decoding the body. */
  readonly decoded: DecodedBody
}

/** A client for one site. */
export interface SiteClient {
  ask(question: SiteRequest): Promise<SiteResponse>
  /** Returns the protocol that the site selects if the client offers HTTP/2 (RFC 7301), or `undefined` without TLS. */
  negotiatedProtocol(): Promise<string | undefined>
  close(): void
}

/** Milliseconds without a byte until a request fails. */
const patience = 30_000

/**
 * The time limit of a request grows by a millisecond for each 10 bytes of its file. Without a limit, a site that sends
 * single bytes could block the check forever.
 */
const slowest = 10

/** Bytes that a body may have beyond twice its file, for error pages and changes by a proxy. */
const spareBytes = 2 ** 24

function mostBytesOf(size: number): number {
  return 2 * size + spareBytes
}

export function createSiteClient(access: SiteAccess): SiteClient {
  const { origin, fields, address, insecure, concurrency, signal } = access
  const isSecure = origin.protocol === 'https:'
  const lookup: LookupFunction | undefined =
    address === undefined
      ? undefined
      : (_name, { all }, done) => {
          const family = isIP(address)
          // Node requests one address or all addresses.
          if (all === true) done(null, [{ address, family }])
          else done(null, address, family)
        }
  const reach = { ...(lookup !== undefined && { lookup }), rejectUnauthorized: !insecure }
  const settings = { keepAlive: true, maxSockets: concurrency }
  const agent = isSecure ? new https.Agent(settings) : new http.Agent(settings)
  const request = isSecure ? https.request : http.request

  const askOnce = async ({
    path,
    method = 'GET',
    fields: more,
    size = 0,
    isApart,
  }: SiteRequest): Promise<SiteResponse> =>
    await new Promise((resolve, reject) => {
      const asked = request(
        // The unchanged path: `new URL` would normalize it.
        { ...reach, ...hostOf(origin), path, method, signal, agent: isApart === true ? false : agent },
        (response) => {
          receive(response, size)
            .then(resolve, reject)
            .finally(() => clearTimeout(deadline))
        },
      )
      const fail = (error: Error): void => {
        clearTimeout(deadline)
        reject(error)
        asked.destroy()
      }
      const mostTime = patience + size / slowest
      const deadline = setTimeout(
        () => fail(new Error(`no complete response within ${Math.ceil(mostTime / 1000)} s`)),
        mostTime,
      )
      for (const [name, value] of Object.entries({ 'user-agent': 'serve-dist-check', ...fields, ...more }))
        asked.setHeader(name, value)
      asked.setTimeout(patience, () => fail(new Error(`no response within ${patience / 1000} s`)))
      // Without this listener, Node would close the connection without an error.
      asked.once('upgrade', (_response, socket) => {
        socket.destroy()
        fail(new Error('the site answers 101, although the request does not ask for an upgrade'))
      })
      asked.on('error', fail).end()
    })

  return {
    async ask(question) {
      try {
        return await askOnce(question)
      } catch (error) {
        // A server may close an idle connection just before its next use (RFC 9112 §9.3.1).
        if (!isBrokenConnection(error)) throw error
        return await askOnce({ ...question, isApart: true })
      }
    },
    async negotiatedProtocol() {
      if (!isSecure) return undefined
      return await new Promise((resolve, reject) => {
        const { host, port } = hostOf(origin)
        const name = isIP(host) === 0 ? { servername: host } : {}
        const socket = connect({ ...reach, ...name, host, port, ALPNProtocols: ['h2', 'http/1.1'] }, () => {
          resolve(socket.alpnProtocol === false ? 'http/1.1' : (socket.alpnProtocol ?? 'http/1.1'))
          socket.destroy()
        })
        // A limit for the whole handshake: a site that sends single bytes is never idle.
        const deadline = setTimeout(
          () => socket.destroy(new Error(`no TLS within ${patience / 1000} s`)),
          patience,
        )
        socket.once('error', reject).once('close', () => clearTimeout(deadline))
      })
    },
    close: () => agent.destroy(),
  }
}

function hostOf({ hostname, port, protocol }: URL): { host: string; port: number } {
  const usual = protocol === 'https:' ? 443 : 80
  return { host: hostname.replaceAll(/^\[|\]$/g, ''), port: port === '' ? usual : Number(port) }
}

async function receive(response: http.IncomingMessage, expected: number): Promise<SiteResponse> {
  const mostBytes = mostBytesOf(expected)
  const coding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  const hash = createHash('sha256')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('expected a Buffer from a response without an encoding')
    hash.update(chunk)
    size += chunk.length
    if (size > mostBytes) throw new Error(`more than ${formatBytes(mostBytes)} of body`)
    // Media files have no coding, and their bodies are not stored. Encoded bodies are text, and are decoded as a whole.
    if (coding !== 'identity') chunks.push(chunk)
  }
  const sha256 = hash.digest('hex')
  return {
    status: response.statusCode ?? 0,
    fields: response.headers,
    size,
    sha256,
    coding,
    decoded:
      coding === 'identity'
        ? { sha256 }
        : await decodeBody(coding, Buffer.concat(chunks), { size: expected, mostBytes }),
  }
}

function isBrokenConnection(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}
