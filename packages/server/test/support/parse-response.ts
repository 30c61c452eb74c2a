/** A response as received. */
export interface RawResponse {
  readonly version: string
  readonly status: number
  readonly reason: string
  /** Field lines in order, with names as received. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** The kind of body end (RFC 9112 §6.3). */
  readonly framing: 'none' | 'length' | 'chunked' | 'close'
  readonly body: Buffer
  /** Returns the value of a field, or `undefined`. Throws if the field is repeated. */
  readonly field: (name: string) => string | undefined
}

/** A response, and its length in bytes. */
export interface ParsedResponse {
  readonly response: RawResponse
  readonly length: number
}

const statusLine = /^(HTTP\/1\.[01]) (\d{3}) ([\t\x20-\x7E]*)$/
const fieldLine = /^([!#$%&'*+.^_`|~\w-]+): ?([\t\x20-\x7E\x80-\xFF]*)$/

/**
 * Parses the response at the start of received bytes, more strictly than clients do: CRLF only, no folding,
 * one framing. Returns `undefined` if bytes are missing.
 *
 * @param isComplete - whether the sender has closed
 */
export function parseResponse(
  received: Buffer,
  method: string,
  isComplete: boolean,
): ParsedResponse | undefined {
  const headLength = received.indexOf('\r\n\r\n')
  if (headLength === -1) return undefined
  const [first = '', ...lines] = received.subarray(0, headLength).toString('latin1').split('\r\n')
  const [, version = '', status = '', reason = ''] = expectMatch(statusLine, first)
  const fields = lines.map((line) => {
    const [, name = '', value = ''] = expectMatch(fieldLine, line)
    return [name, value] as const
  })
  const field = (name: string): string | undefined => {
    const values = fields.filter(([given]) => given.toLowerCase() === name.toLowerCase())
    if (values.length > 1) throw new Error(`${name} is repeated: ${values.length} fields`)
    return values[0]?.[1]
  }
  const framing = framingOf(Number(status), method, field)
  const start = headLength + 4
  const body = readBody(received.subarray(start), framing, Number(field('Content-Length')), isComplete)
  if (body === undefined) return undefined
  const response = { version, status: Number(status), reason, fields, framing, body: body.content, field }
  return { response, length: start + body.length }
}

function framingOf(status: number, method: string, field: RawResponse['field']): RawResponse['framing'] {
  const contentLength = field('Content-Length')
  const transferEncoding = field('Transfer-Encoding')
  if (contentLength !== undefined) expectMatch(/^\d+$/, contentLength)
  if (contentLength !== undefined && transferEncoding !== undefined) throw new Error('framed twice')
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return 'none'
  if (transferEncoding !== undefined) {
    expectMatch(/^chunked$/, transferEncoding)
    return 'chunked'
  }
  return contentLength === undefined ? 'close' : 'length'
}

function readBody(
  bytes: Buffer,
  framing: RawResponse['framing'],
  contentLength: number,
  isComplete: boolean,
): { content: Buffer; length: number } | undefined {
  switch (framing) {
    case 'none':
      return { content: Buffer.alloc(0), length: 0 }
    case 'length':
      if (bytes.length < contentLength) return undefined
      return { content: bytes.subarray(0, contentLength), length: contentLength }
    case 'chunked':
      return readChunks(bytes)
    case 'close':
      return isComplete ? { content: bytes, length: bytes.length } : undefined
    default:
      throw new TypeError(`no such framing: ${String(framing satisfies never)}`)
  }
}

function readChunks(bytes: Buffer): { content: Buffer; length: number } | undefined {
  const chunks: Buffer[] = []
  let position = 0
  for (;;) {
    const end = bytes.indexOf('\r\n', position)
    if (end === -1) return undefined
    const [size = ''] = expectMatch(/^[\da-f]+$/i, bytes.toString('latin1', position, end))
    const start = end + 2
    const length = Number.parseInt(size, 16)
    if (bytes.length < start + length + 2) return undefined
    if (bytes.toString('latin1', start + length, start + length + 2) !== '\r\n') {
      throw new Error('a chunk is longer than it says')
    }
    chunks.push(bytes.subarray(start, start + length))
    position = start + length + 2
    if (length === 0) return { content: Buffer.concat(chunks), length: position }
  }
}

function expectMatch(form: RegExp, text: string): RegExpExecArray {
  const match = form.exec(text)
  if (match === null) throw new Error(`not HTTP: ${JSON.stringify(text)}`)
  return match
}
