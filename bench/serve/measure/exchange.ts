import { once } from 'node:events'
import { request } from 'node:http'
import { connect as connectHttp2, constants, type IncomingHttpHeaders } from 'node:http2'
import { request as requestTls } from 'node:https'
import type { TlsProtocol } from '../load/workload.ts'
import { agreed } from '../tls-files.ts'

/** A request with all its fields, `Host` too. */
export interface RawRequest {
  readonly method: string
  readonly target: string
  readonly fields: Readonly<Record<string, string>>
  readonly tls?: TlsProtocol | undefined
}

/** An answer before it is decoded. */
export interface RawAnswer {
  readonly status: number
  /** All values by the name in lower case. */
  readonly fields: ReadonlyMap<string, readonly string[]>
  /** Without the framing of chunks, still in its content coding. */
  readonly body: Buffer
  /** Bytes of head, framing and body before TLS; over HTTP/2, only of the body. */
  readonly wireBytes: number
}

/** Returns the bytes of a request. */
export function textOf({ method, target, fields }: RawRequest): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`
}

const patience = 10_000

/** The TLS parameters of the load generators. The certificate is self-signed. */
const tlsOptions = {
  rejectUnauthorized: false,
  minVersion: agreed.version,
  ciphers: agreed.cipher,
  ecdhCurve: agreed.group,
} as const

/**
 * Sends a request with exactly these fields on a new connection, and reads its answer.
 *
 * @throws Error if the answer is malformed, cut short, or not complete within ten seconds.
 */
export async function exchange(port: number, raw: RawRequest): Promise<RawAnswer> {
  return raw.tls === 'h2' ? exchangeHttp2(port, raw) : exchangeHttp1(port, raw)
}

async function exchangeHttp1(port: number, { method, target, fields, tls }: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(patience)
    const where = { host: '127.0.0.1', port, method, path: target, headers: fields, agent: false, signal }
    const sent = tls === undefined ? request(where) : requestTls({ ...where, ...tlsOptions })
    // Node adds the field, the load generators do not.
    if (fields['Connection'] === undefined) sent.removeHeader('Connection')
    let wireBytes = 0
    // These bytes are decrypted; a TLS socket itself counts encrypted ones.
    sent.on('socket', (socket) => socket.on('data', (part) => (wireBytes += part.length)))
    sent.on('error', reject)
    sent.on('response', (response) => {
      const parts: Buffer[] = []
      const { socket } = response
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        const received = new Map(
          Object.entries(response.headersDistinct).map(([name, values]) => [name, values ?? []] as const),
        )
        const status = response.statusCode ?? 0
        const body = Buffer.concat(parts)
        if (body.length > 0 && !received.has('content-length') && !received.has('transfer-encoding')) {
          reject(new Error('neither Content-Length nor chunks'))
        } else {
          resolve({ status, fields: received, body, wireBytes })
        }
        socket.destroy()
      })
    })
    sent.end()
  })
}

/** Sends `Host` as the authority and no `Connection` (RFC 9113 §8.3.1 and §8.2.2). */
async function exchangeHttp2(port: number, { method, target, fields }: RawRequest): Promise<RawAnswer> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, tlsOptions)
  const failed = new Promise<never>((_, reject) => session.once('error', reject))
  try {
    return await Promise.race([failed, readStream()])
  } finally {
    session.destroy()
  }

  async function readStream(): Promise<RawAnswer> {
    const { Host: authority, Connection: _, ...others } = fields
    const head = { ':method': method, ':path': target, ':authority': authority, ...others }
    const stream = session.request(head, { signal: AbortSignal.timeout(patience) })
    const [answer]: IncomingHttpHeaders[] = await once(stream, 'response')
    const parts: Buffer[] = await stream.toArray()
    if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) throw new Error(`reset with ${stream.rstCode}`)
    const received = Object.entries(answer ?? {}).map(
      ([name, value]) => [name, [value ?? ''].flat()] as const,
    )
    const body = Buffer.concat(parts)
    const status = Number(answer?.[':status'])
    return { status, fields: new Map(received), body, wireBytes: body.length }
  }
}
