import { connect } from 'node:net'

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

/**
 * Sends the very bytes of a request and reads the one answer to them.
 *
 * @throws when the answer is malformed, cut short, or not complete within ten seconds.
 */
export async function exchange(port: number, request: string): Promise<RawAnswer> {
  const isHead = request.startsWith('HEAD ')
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0)
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(request))
    const fail = (reason: string): void => {
      socket.destroy()
      reject(new Error(reason))
    }
    socket.setTimeout(10_000, () => fail('no complete answer within 10 s'))
    socket.on('error', (error) => fail(error.message))
    socket.on('close', () => fail('connection closed before the answer was complete'))
    socket.on('data', (part) => {
      received = Buffer.concat([received, part])
      try {
        const answer = parseAnswer(received, isHead)
        if (answer === undefined) return
        resolve(answer)
        socket.destroy()
      } catch (error) {
        fail(error instanceof Error ? error.message : String(error))
      }
    })
  })
}

/** `undefined` as long as bytes are missing. */
function parseAnswer(received: Buffer, isHead: boolean): RawAnswer | undefined {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [statusLine = '', ...lines] = received.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1])
  if (Number.isNaN(status)) throw new Error(`status line "${statusLine}"`)
  const fields = parseFields(lines)
  const rest = received.subarray(headEnd + 4)
  const bodyless = isHead || status === 304 || status === 204
  const framed = bodyless ? { body: Buffer.alloc(0), length: 0 } : readBody(fields, rest)
  if (framed === undefined) return undefined
  if (rest.length > framed.length) throw new Error(`${rest.length - framed.length} bytes after the answer`)
  return { status, fields, body: framed.body, wireBytes: headEnd + 4 + framed.length }
}

function parseFields(lines: readonly string[]): Map<string, string[]> {
  const fields = new Map<string, string[]>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    fields.set(name, [...(fields.get(name) ?? []), line.slice(colon + 1).trim()])
  }
  return fields
}

interface FramedBody {
  readonly body: Buffer
  /** As framed on the wire. */
  readonly length: number
}

function readBody(fields: ReadonlyMap<string, readonly string[]>, rest: Buffer): FramedBody | undefined {
  if (fields.get('transfer-encoding')?.includes('chunked')) return readChunks(rest)
  const [lengthField] = fields.get('content-length') ?? []
  if (lengthField === undefined) throw new Error('neither Content-Length nor chunks')
  const length = Number(lengthField)
  return rest.length < length ? undefined : { body: rest.subarray(0, length), length }
}

function readChunks(rest: Buffer): FramedBody | undefined {
  const parts: Buffer[] = []
  let position = 0
  for (;;) {
    const lineEnd = rest.indexOf('\r\n', position)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(rest.toString('latin1', position, lineEnd), 16)
    const end = lineEnd + 2 + size + 2
    if (rest.length < end) return undefined
    if (size === 0) return { body: Buffer.concat(parts), length: end }
    parts.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size))
    position = end
  }
}
