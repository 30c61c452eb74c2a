import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll } from 'vitest'

/** A request as its octets arrived. */
export interface ReceivedRequest {
  /** The first line. */
  readonly line: string
  /** Field lines in order, with names as received. */
  readonly lines: readonly string[]
  readonly body: string
  /** The values of a field, which may be repeated. */
  readonly values: (name: string) => readonly string[]
}

/** A server on a raw socket. */
export interface Target {
  readonly port: number
  readonly url: string
  /** All complete requests, in order. */
  readonly requests: readonly ReceivedRequest[]
  /** The number of connections up to now. */
  readonly connections: () => number
  /** Settles when the last of the current connections is closed. */
  readonly allClosed: () => Promise<void>
  /** Resets all connections and frees the port, as if the process died. */
  readonly die: () => Promise<void>
}

interface TargetOptions {
  /** Called after each head. */
  readonly onHead?: (head: string, socket: Socket) => void
  /** The path of a unix socket to listen on. */
  readonly path?: string
  readonly port?: number
  /** @default '127.0.0.1' */
  readonly host?: string
  /** The certificate for TLS. */
  readonly tls?: { readonly cert: string; readonly key: string }
}

const stopping: (() => void)[] = []
afterAll(() => {
  for (const stop of stopping.splice(0)) stop()
})

/** The answer of a target that says `ok`. */
export const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/**
 * Starts a target that writes literal answers.
 *
 * @param answer - called after each complete request.
 */
export async function startTarget(
  answer: (request: ReceivedRequest, socket: Socket) => void = (_request, socket) => void socket.write(ok),
  { onHead, path, port: wanted = 0, host = '127.0.0.1', tls }: TargetOptions = {},
): Promise<Target> {
  const requests: ReceivedRequest[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const accept = (socket: Socket): void => {
    connections += 1
    sockets.add(socket)
    let received = ''
    let isHeadTold = false
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      for (;;) {
        const end = received.indexOf('\r\n\r\n')
        if (end !== -1 && !isHeadTold) {
          isHeadTold = true
          onHead?.(received.slice(0, end), socket)
        }
        const parsed = end === -1 ? undefined : parseRequest(received, end)
        if (parsed === undefined) return
        received = parsed.rest
        isHeadTold = false
        requests.push(parsed.request)
        answer(parsed.request, socket)
      }
    })
  }
  const server = tls === undefined ? createServer(accept) : createTlsServer(tls, accept)
  server.listen(path ?? { port: wanted, host })
  await once(server, 'listening')
  stopping.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    async allClosed() {
      await Promise.all(Array.from(sockets, async (socket) => await once(socket, 'close')))
    },
    async die() {
      server.close()
      for (const socket of sockets) socket.resetAndDestroy()
      await once(server, 'close')
    },
  }
}

function parseRequest(received: string, end: number): { request: ReceivedRequest; rest: string } | undefined {
  const [line = '', ...lines] = received.slice(0, end).split('\r\n')
  const values = (name: string): string[] =>
    lines
      .filter((each) => each.toLowerCase().startsWith(`${name.toLowerCase()}:`))
      .map((each) => each.slice(name.length + 1).trim())
  const read = readBody(received.slice(end + 4), values)
  return read && { request: { line, lines, values, body: read.body }, rest: read.rest }
}

function readBody(
  text: string,
  values: (name: string) => readonly string[],
): { body: string; rest: string } | undefined {
  if (values('Transfer-Encoding').length === 0) {
    const length = Number(values('Content-Length')[0] ?? 0)
    return text.length < length ? undefined : { body: text.slice(0, length), rest: text.slice(length) }
  }
  let body = ''
  let rest = text
  for (;;) {
    const [whole, digits = ''] = /^([\da-f]+)\r\n/i.exec(rest) ?? []
    if (whole === undefined) return undefined
    const size = Number.parseInt(digits, 16)
    if (rest.length < whole.length + size + 2) return undefined
    body += rest.slice(whole.length, whole.length + size)
    rest = rest.slice(whole.length + size + 2)
    if (size === 0) return { body, rest }
  }
}
