import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { createHash } from 'node:crypto'
import http, { type IncomingHttpHeaders } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { connect } from 'node:tls'
import { type DecodedBody, decodeBody } from './decode-body.ts'

/** How a site is reached. */
export interface SiteAccess {
  readonly origin: URL
  /** Fields of every request, such as `Authorization`. */
  readonly fields: Readonly<Record<string, string>>
  /** The address to connect to, in place of what the name resolves to. */
  readonly address: string | undefined
  /** Whether any certificate will do. */
  readonly insecure: boolean
  readonly concurrency: number
  /** Ends every request, at the end of the whole check's time. */
  readonly signal: AbortSignal
}

/** One request. */
export interface SiteRequest {
  /** Percent-encoded, from the root of the host. */
  readonly path: string
  readonly method?: 'GET' | 'HEAD'
  readonly fields?: Readonly<Record<string, string>>
  /** Bytes of the file, when it is decoded. */
  readonly size?: number
  /** Whether on a connection of its own, which a load balancer may lead to another replica. */
  readonly isApart?: boolean
}

/** One answer; its body is not kept. */
export interface SiteResponse {
  readonly status: number
  readonly fields: IncomingHttpHeaders
  /** Bytes of the body as it came. */
  readonly size: number
  /** Of the body as it came, lower-case hexadecimal. */
  readonly sha256: string
  /** `Content-Encoding` in lower case; `identity` without one. */
  readonly coding: string
  /** The body without its coding. */
  readonly decoded: DecodedBody
}

/** Asks one site. */
export interface SiteClient {
  ask(question: SiteRequest): Promise<SiteResponse>
  /** The protocol that the site chooses when HTTP/2 is offered to it (RFC 7301); `undefined` without TLS. */
  negotiatedProtocol(): Promise<string | undefined>
  close(): void
}

/** Without a byte for so long, a request has failed. */
const patience = 30_000

/** Of a body, in bytes a millisecond: a site that drips would hold the check for ever. */
const slowest = 10

/** What a body may have beyond twice its file: error pages, and what a proxy adds. */
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
          // Node asks for one address, or for all.
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
        // As it is: `new URL` would repair paths.
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
        () => fail(new Error(`no whole answer within ${Math.ceil(mostTime / 1000)} s`)),
        mostTime,
      )
      for (const [name, value] of Object.entries({ 'user-agent': 'serve-dist-check', ...fields, ...more }))
        asked.setHeader(name, value)
      asked.setTimeout(patience, () => fail(new Error(`no answer within ${patience / 1000} s`)))
      // Without a listener, Node would close the connection and say nothing.
      asked.once('upgrade', (_response, socket) => {
        socket.destroy()
        fail(new Error('it answers 101, which nobody asked for'))
      })
      asked.on('error', fail).end()
    })

  return {
    async ask(question) {
      try {
        return await askOnce(question)
      } catch (error) {
        // A kept connection may be closed in the moment in which it is used again (RFC 9112 §9.3.1).
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
        // In all: a handshake that drips is never silent.
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
    if (!Buffer.isBuffer(chunk)) throw new TypeError('a response without a decoder has buffers')
    hash.update(chunk)
    size += chunk.length
    if (size > mostBytes) throw new Error(`more than ${formatBytes(mostBytes)} of body`)
    // A film is hashed and let go; what has a coding is text, and is decoded as a whole.
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
