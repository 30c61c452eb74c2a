import { EventEmitter, once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'

/** Frame types (RFC 9113 §6). */
export const frameTypes = {
  data: 0,
  headers: 1,
  resetStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const endStream = 0x1
export const endHeaders = 0x4

/** A frame as sent. */
export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** A connection that sends frames without an HTTP/2 library. */
export interface RawHttp2 {
  readonly socket: TLSSocket
  /** All received frames. */
  readonly frames: readonly Frame[]
  readonly send: (frame: Partial<Frame> & Pick<Frame, 'type'>) => void
  /** Sends a request without a body, unless flags say otherwise. */
  readonly request: (stream: number, fields?: Readonly<Record<string, string>>, flags?: number) => void
  /** Waits for a matching frame. Rejects if the connection ends without it. */
  readonly find: (isWanted: (frame: Frame) => boolean) => Promise<Frame>
  readonly closed: Promise<void>
}

/**
 * Opens TLS with ALPN h2, and sends the preface with settings (identifier, value).
 *
 * @param allowHalfOpen - whether this half stays open when the server closes its own
 */
export async function openRawHttp2(
  port: number,
  settings: readonly (readonly [identifier: number, value: number])[] = [],
  allowHalfOpen = false,
): Promise<RawHttp2> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] })
  socket.allowHalfOpen = allowHalfOpen
  const frames: Frame[] = []
  const changes = new EventEmitter()
  let received = Buffer.alloc(0)
  let isClosed = false
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    for (;;) {
      const frame = readFrame(received)
      if (frame === undefined) break
      received = received.subarray(9 + frame.payload.length)
      frames.push(frame)
    }
    changes.emit('change')
  })
  // A reset also ends the connection.
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      isClosed = true
      changes.emit('change')
      resolve()
    })
  })
  await once(socket, 'secureConnect')
  const connection: RawHttp2 = {
    socket,
    frames,
    closed,
    send: (frame) => void socket.write(writeFrame(frame)),
    request(stream, fields = {}, flags = endStream | endHeaders) {
      const all = { ':method': 'GET', ':scheme': 'https', ':path': '/', ':authority': 'localhost', ...fields }
      connection.send({ type: frameTypes.headers, flags, stream, payload: encodeFields(all) })
    },
    async find(isWanted) {
      for (;;) {
        const found = frames.find(isWanted)
        if (found !== undefined) return found
        if (isClosed)
          throw new Error(`closed after frames of types ${frames.map(({ type }) => type).join(' ')}`)
        await once(changes, 'change')
      }
    },
  }
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  const payload = Buffer.alloc(6 * settings.length)
  for (const [index, [identifier, value]] of settings.entries()) {
    payload.writeUInt16BE(identifier, 6 * index)
    payload.writeUInt32BE(value, 6 * index + 2)
  }
  connection.send({ type: frameTypes.settings, payload })
  return connection
}

/** Encodes literal fields without indexing or compression (RFC 7541 §6.2.2). */
export function encodeFields(fields: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries(fields).flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)])
  return Buffer.concat(lines)
}

/** Encodes a string: its length with a prefix of seven bits (RFC 7541 §5.1), and its octets. */
function text(value: string): Buffer {
  const octets = Buffer.from(value, 'latin1')
  const length: number[] = []
  if (octets.length < 127) length.push(octets.length)
  else {
    length.push(127)
    let rest = octets.length - 127
    for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128)
    length.push(rest)
  }
  return Buffer.concat([Buffer.from(length), octets])
}

function writeFrame({
  type,
  flags = 0,
  stream = 0,
  payload = Buffer.alloc(0),
}: Partial<Frame> & Pick<Frame, 'type'>): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

function readFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < 9) return undefined
  const length = bytes.readUIntBE(0, 3)
  if (bytes.length < 9 + length) return undefined
  return {
    type: bytes.readUInt8(3),
    flags: bytes.readUInt8(4),
    stream: bytes.readUInt32BE(5),
    payload: Buffer.from(bytes.subarray(9, 9 + length)),
  }
}

/** Encodes an unsigned number in four octets, as in RST_STREAM and WINDOW_UPDATE. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
