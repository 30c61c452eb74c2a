import { request } from 'node:http'

/** A request as it is sent; `Host` is among its fields. */
export interface RawRequest {
  readonly method: string
  readonly target: string
  readonly fields: Readonly<Record<string, string>>
}

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number
  /** By name in lower case; of a repeated field all values. */
  readonly fields: ReadonlyMap<string, readonly string[]>
  /** Without the framing of chunks, still in its content coding. */
  readonly body: Buffer
  /** Of head, framing and body. */
  readonly wireBytes: number
}

/** The bytes of a request. */
export function textOf({ method, target, fields }: RawRequest): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`
}

/**
 * Sends a request with exactly these fields on a connection of its own, and reads the one answer to it.
 *
 * @throws when the answer is malformed, cut short, or not complete within ten seconds.
 */
export async function exchange(port: number, { method, target, fields }: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(10_000)
    const sent = request({
      host: '127.0.0.1',
      port,
      method,
      path: target,
      headers: fields,
      agent: false,
      signal,
    })
    // Node adds the field by itself, the load generators do not.
    if (fields['Connection'] === undefined) sent.removeHeader('Connection')
    sent.on('error', reject)
    sent.on('response', (response) => {
      const parts: Buffer[] = []
      const { socket } = response
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        const received = new Map<string, string[]>()
        for (let index = 0; index < response.rawHeaders.length; index += 2) {
          const name = response.rawHeaders[index]?.toLowerCase() ?? ''
          received.set(name, [...(received.get(name) ?? []), response.rawHeaders[index + 1] ?? ''])
        }
        const status = response.statusCode ?? 0
        const body = Buffer.concat(parts)
        if (body.length > 0 && !received.has('content-length') && !received.has('transfer-encoding')) {
          reject(new Error('neither Content-Length nor chunks'))
        } else {
          resolve({ status, fields: received, body, wireBytes: socket.bytesRead })
        }
        socket.destroy()
      })
    })
    sent.end()
  })
}
