import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type OutgoingHttpHeaders } from 'node:http2'

/** Bytes on the wire for each message, over HTTP/1.1 and over HTTP/2, whose tables compress what comes again. */
export interface FieldCost {
  readonly http1: number
  readonly http2: number
}

interface Fields {
  readonly requestOf?: (index: number) => OutgoingHttpHeaders
  readonly answerOf?: (index: number) => OutgoingHttpHeaders
}

const messages = 200
const plainRequest = { 'accept-encoding': 'gzip, deflate, br, zstd' }
const plainAnswer = { vary: 'Accept-Encoding' }
const answer = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'public, max-age=31536000, immutable',
  'content-encoding': 'br',
}

/** What marking a file as a dictionary adds to an answer: `Use-As-Dictionary` and the longer `Vary`. */
export async function markCost(): Promise<FieldCost> {
  const [plain, marked] = [await exchange({}), await exchange({ answerOf: markedFields })]
  return {
    http1: lengthOf(markedFields(0)) - lengthOf(plainAnswer),
    http2: marked.received - plain.received,
  }
}

/** What offering a dictionary adds to a request: `Available-Dictionary`, and two codings in `Accept-Encoding`. */
export async function offerCost(): Promise<FieldCost> {
  const [plain, offering] = [await exchange({}), await exchange({ requestOf: offeringFields })]
  return { http1: lengthOf(offeringFields()) - lengthOf(plainRequest), http2: offering.sent - plain.sent }
}

function markedFields(index: number): OutgoingHttpHeaders {
  return {
    vary: 'Accept-Encoding, Available-Dictionary',
    'use-as-dictionary': `match="/assets/${nameOf(index)}-*.js", match-dest=("script")`,
  }
}

function offeringFields(): OutgoingHttpHeaders {
  return {
    'accept-encoding': 'gzip, deflate, br, zstd, dcb, dcz',
    'available-dictionary': `:${randomBytes(32).toString('base64')}:`,
  }
}

/** Bytes of each message in a connection of many, one after the other. */
async function exchange({
  requestOf = () => plainRequest,
  answerOf = () => plainAnswer,
}: Fields): Promise<{ sent: number; received: number }> {
  let count = 0
  const server = createServer().on('stream', (stream) => {
    stream.respond({ ...answer, etag: `"${hashOf()}"`, ...answerOf(count) }, { endStream: true })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const session = connect(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
  await once(session, 'connect')
  const { socket } = session
  let sent = 0
  let received = 0
  for (; count < messages; count += 1) {
    // The first ones fill the tables.
    if (count === messages / 2) [sent, received] = [socket.bytesWritten, socket.bytesRead]
    const path = `/assets/${nameOf(count)}-${hashOf()}.js`
    const stream = session.request({ ':path': path, ...requestOf(count) })
    stream.resume().end()
    await once(stream, 'close')
  }
  sent = (socket.bytesWritten - sent) / (messages / 2)
  received = (socket.bytesRead - received) / (messages / 2)
  session.close()
  server.close()
  return { sent, received }
}

function nameOf(index: number): string {
  return `product-create-${index}`
}

function hashOf(): string {
  return randomBytes(6).toString('base64url')
}

/** Of the fields over HTTP/1.1. */
function lengthOf(fields: OutgoingHttpHeaders): number {
  return Object.entries(fields).reduce(
    (sum, [name, value]) => sum + `${name}: ${String(value)}\r\n`.length,
    0,
  )
}
