import { once } from 'node:events'
import { connect } from 'node:http2'
import { buffer } from 'node:stream/consumers'
import type { RawResponse } from './parse-response.ts'
import type { RawRequest } from './raw-request.ts'

/** Sends one request over a new HTTP/2 session, and parses the response as strictly as over HTTP/1.1. */
export async function http2Request(port: number, request: RawRequest = {}): Promise<RawResponse> {
  const { method = 'GET', target = '/', fields = {}, body = '' } = request
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  // The stream fails, too.
  session.on('error', () => {})
  try {
    const stream = session.request(
      { ':method': method, ':path': target, ...fields },
      { endStream: body === '' },
    )
    if (body !== '') stream.end(body)
    const [headers, , rawHeaders] = await once(stream, 'response')
    return toRawResponse(Number(headers[':status']), rawHeaders, await buffer(stream))
  } finally {
    session.destroy()
  }
}

/** Fields that HTTP/2 forbids (RFC 9113 §8.2.2). */
const connectionFields: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

function toRawResponse(status: number, rawHeaders: readonly string[], body: Buffer): RawResponse {
  const fields = rawHeaders
    .flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : []))
    .filter(([name]) => !name.startsWith(':'))
  const wrong = fields.find(([name]) => name !== name.toLowerCase() || connectionFields.has(name))
  if (wrong !== undefined) throw new Error(`not HTTP/2: ${wrong.join(': ')}`)
  const field = (name: string): string | undefined => {
    const values = fields.filter(([given]) => given === name.toLowerCase())
    if (values.length > 1) throw new Error(`${name} is repeated: ${values.length} fields`)
    return values[0]?.[1]
  }
  return { version: 'HTTP/2', status, reason: '', fields, framing: 'length', body, field }
}
