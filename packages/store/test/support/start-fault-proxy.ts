import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { s3Settings, type S3Server } from './start-s3.ts'

/** A fault of a request. */
export interface Fault {
  /** A delay in milliseconds. */
  readonly latency?: number
  /** Answers this status instead of the server. */
  readonly status?: keyof typeof codes
  /** Answers 200 with this text instead of the server, like the login page of a network. */
  readonly page?: string
  /** Forwards the request after this promise. The client may have given up by then. */
  readonly holds?: Promise<unknown>
  /** Never answers. */
  readonly stalls?: boolean
  /** Resets the connection before the server gets the request, or after it has answered. */
  readonly reset?: 'before' | 'after'
  /** The number of bytes of the body to send before the connection ends or is reset. */
  readonly bytes?: number
  readonly ending?: 'end' | 'reset'
  /** Ignores the conditions of a write, as some servers do. */
  readonly unconditional?: boolean
}

/** A request that the proxy received. */
export interface SeenRequest {
  readonly method: string
  /** The path with the bucket, without the query. */
  readonly path: string
  readonly query: string
}

/** A proxy between a client and a server, over real sockets. */
export interface FaultProxy {
  readonly endpoint: string
  /** Chooses the fault of each future request. Without `choose`, there are no faults. */
  fail(choose?: (seen: SeenRequest) => Fault | undefined): void
  /** All requests since the start. */
  readonly seen: readonly SeenRequest[]
  /** Resolves when the held requests were answered. */
  settled(): Promise<void>
  stop(): Promise<void>
}

export async function startFaultProxy(s3: S3Server): Promise<FaultProxy> {
  const client = new S3Client(s3Settings(s3.endpoint, s3.root))
  const seen: SeenRequest[] = []
  const running = new Set<Promise<void>>()
  let choose: ((seen: SeenRequest) => Fault | undefined) | undefined
  const server = createServer((incoming, response) => {
    const { pathname, search } = new URL(incoming.url ?? '/', s3.endpoint)
    const asked = { method: incoming.method ?? 'GET', path: decodeURIComponent(pathname), query: search }
    seen.push(asked)
    // The client may have disconnected.
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
    if (fault.holds !== undefined) return await forwardLate(incoming, fault.holds)
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
      // The signature covers the host that the client knows.
      headers: incoming.headers,
      setHost: false,
    })
    incoming.pipe(onward)
    const [reply]: IncomingMessage[] = await once(onward, 'response')
    if (reply === undefined) throw new TypeError('the event has no response')
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

  async function forwardLate(incoming: IncomingMessage, released: Promise<unknown>): Promise<void> {
    const body = await buffer(incoming)
    const forward = async (): Promise<void> => {
      await released
      const { method = 'GET', headers, url = '/' } = incoming
      const onward = request(new URL(url, s3.endpoint), { method, headers, setHost: false }).end(body)
      const [reply]: IncomingMessage[] = await once(onward, 'response')
      if (reply !== undefined) await buffer(reply)
    }
    const late = forward()
    running.add(late)
    await late
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
  if (typeof address !== 'object' || address === null) throw new TypeError('the server has no port')
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    seen,
    fail(chosen) {
      choose = chosen
    },
    async settled() {
      await Promise.all(running)
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
  const text = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${codes[status]}</Code><Message>injected fault</Message></Error>`
  response.writeHead(status, { 'content-type': 'application/xml', connection: 'close' }).end(text)
  await once(response, 'close')
}
