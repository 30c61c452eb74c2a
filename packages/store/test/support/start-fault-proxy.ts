import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { s3Settings, type S3Server } from './start-s3.ts'

/** What goes wrong with a request. */
export interface Fault {
  /** In milliseconds, before it goes on. */
  readonly latency?: number
  /** Answered in the place of the server. */
  readonly status?: keyof typeof codes
  /** In the place of the server, 200 with this text: a network that asks for a login. */
  readonly page?: string
  /** Nothing comes of it, ever. */
  readonly stalls?: boolean
  /** The connection is reset: before the server hears of the request, or after it has answered. */
  readonly reset?: 'before' | 'after'
  /** So many bytes of the answer's body come; then the connection ends, or is reset. */
  readonly bytes?: number
  readonly ending?: 'end' | 'reset'
  /** A put is done without its conditions, as some servers do. */
  readonly unconditional?: boolean
}

/** A request as a fault is chosen for it. */
export interface SeenRequest {
  readonly method: string
  /** With the bucket, without the query. */
  readonly path: string
  readonly query: string
}

/** Stands between a client and a server, over real sockets. */
export interface FaultProxy {
  readonly endpoint: string
  /** Chooses the fault of each request from now on; nothing is wrong without it. */
  fail(choose?: (seen: SeenRequest) => Fault | undefined): void
  /** All requests since the start. */
  readonly seen: readonly SeenRequest[]
  stop(): Promise<void>
}

export async function startFaultProxy(s3: S3Server): Promise<FaultProxy> {
  const client = new S3Client(s3Settings(s3.endpoint, s3.root))
  const seen: SeenRequest[] = []
  let choose: ((seen: SeenRequest) => Fault | undefined) | undefined
  const server = createServer((incoming, response) => {
    const { pathname, search } = new URL(incoming.url ?? '/', s3.endpoint)
    const asked = { method: incoming.method ?? 'GET', path: decodeURIComponent(pathname), query: search }
    seen.push(asked)
    // A client that has gone is none of its business.
    void answer(asked, incoming, response).catch(() => response.destroy())
  })

  async function answer(
    asked: SeenRequest,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const fault = choose?.(asked) ?? {}
    if (fault.latency !== undefined) await setTimeout(fault.latency)
    if (fault.stalls === true) return
    if (fault.reset === 'before') return void incoming.socket.resetAndDestroy()
    if (fault.status !== undefined) return await refuse(fault.status, incoming, response)
    if (fault.page !== undefined) {
      incoming.resume()
      return void response.end(fault.page)
    }
    if (fault.unconditional === true && asked.method === 'PUT')
      return await put(asked.path, incoming, response)
    const onward = request(new URL(incoming.url ?? '/', s3.endpoint), {
      method: asked.method,
      // The signature counts the host that the client knows.
      headers: incoming.headers,
      setHost: false,
    })
    incoming.pipe(onward)
    const [reply]: IncomingMessage[] = await once(onward, 'response')
    if (reply === undefined) throw new TypeError('a response comes with its event')
    if (fault.reset === 'after') {
      await buffer(reply)
      return void incoming.socket.resetAndDestroy()
    }
    response.writeHead(reply.statusCode ?? 502, reply.headers)
    if (fault.bytes === undefined) return void reply.pipe(response)
    response.write((await buffer(reply)).subarray(0, fault.bytes), () => {
      if (fault.ending === 'reset') incoming.socket.resetAndDestroy()
      else incoming.socket.end()
    })
  }

  async function put(path: string, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, bucket = '', ...key] = path.split('/')
    const body = await buffer(incoming)
    const { ETag } = await client.send(
      new PutObjectCommand({ Bucket: bucket, Key: key.join('/'), Body: body }),
    )
    response.writeHead(200, { etag: ETag ?? '' }).end()
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new TypeError('listens on no port')
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    seen,
    fail(chosen) {
      choose = chosen
    },
    async stop() {
      client.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const codes = {
  400: 'InvalidRequest',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'SlowDown',
} as const

async function refuse(
  status: keyof typeof codes,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  incoming.resume()
  const text = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${codes[status]}</Code><Message>so the test says</Message></Error>`
  response.writeHead(status, { 'content-type': 'application/xml', connection: 'close' }).end(text)
  await once(response, 'close')
}
