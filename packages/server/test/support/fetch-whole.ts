import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type Agent, get, type IncomingMessage } from 'node:http'
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2'
import { get as getOverTls } from 'node:https'

/** A response that was read to its end. */
export interface WholeAnswer {
  readonly status: number | undefined
  readonly field: (name: string) => string | undefined
  readonly length: number
  readonly sha256: string
}

interface WantedFile {
  readonly path: string
  readonly acceptEncoding: string
}

export interface FetchOptions extends WantedFile {
  readonly port: number
  readonly scheme: 'http' | 'https'
  /** `false` opens a new connection. */
  readonly agent: Agent | false
  /** Called after each chunk, and awaited. Slow readers use it. */
  readonly pause?: (received: number) => Promise<unknown> | undefined
}

/** Reads a whole body without decoding it. Rejects if it ends early. */
export async function fetchWhole(options: FetchOptions): Promise<WholeAnswer> {
  const { port, scheme, path, acceptEncoding, agent, pause } = options
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { 'Accept-Encoding': acceptEncoding }
    const wanted = { port, host: '127.0.0.1', path: `/${path}`, agent, headers }
    const request =
      scheme === 'http' ? get(wanted, resolve) : getOverTls({ ...wanted, rejectUnauthorized: false }, resolve)
    request.once('error', reject)
  })
  const body = await digestOf(response, pause)
  if (!response.complete) throw new Error(`${path} broke off after ${body.length} bytes`)
  return {
    status: response.statusCode,
    field: (name) => response.headers[name.toLowerCase()]?.toString(),
    ...body,
  }
}

/** Like {@link fetchWhole}, on an HTTP/2 session. Rejects if the stream is reset. */
export async function fetchWholeOverHttp2(
  session: ClientHttp2Session,
  { path, acceptEncoding }: WantedFile,
): Promise<WholeAnswer> {
  const stream = session.request({ ':path': `/${path}`, 'accept-encoding': acceptEncoding })
  const answered = once(stream, 'response')
  const body = await Promise.all([digestOf(stream), answered])
  const headers: IncomingHttpHeaders = body[1][0]
  return {
    status: Number(headers[':status']),
    field: (name) => headers[name.toLowerCase()]?.toString(),
    ...body[0],
  }
}

async function digestOf(
  body: AsyncIterable<unknown>,
  pause?: FetchOptions['pause'],
): Promise<Pick<WholeAnswer, 'length' | 'sha256'>> {
  const digest = createHash('sha256')
  let length = 0
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('a body is read as text')
    digest.update(chunk)
    length += chunk.length
    await pause?.(length)
  }
  return { length, sha256: digest.digest('hex') }
}
