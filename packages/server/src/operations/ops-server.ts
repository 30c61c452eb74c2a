import { createServer, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { connectionLimits } from '../protocol/connection-limits.ts'
import type { Metrics } from './metrics.ts'
import type { Readiness } from './readiness.ts'
import { sendAnswer } from '../send/send-answer.ts'
import { healthy, onlyReads, textAnswer } from '../site/answers.ts'
import { listen } from '../transport/listen.ts'

/** The address of the probes and metrics. */
export interface OpsAddress {
  /** 0 selects a free port. */
  readonly port: number
  /** `*` for all addresses of the machine. */
  readonly host: string
}

/** The sources of the answers. */
export interface OpsSources {
  readonly readiness: () => Readiness
  readonly metrics: Pick<Metrics, 'contentType' | 'read'>
}

/** A server for probes and metrics, separate from the public one. */
export interface OpsServer {
  readonly url: string
  close(): Promise<void>
}

/**
 * The maximum of idle connections, so that this server cannot exhaust descriptors. The oldest idle
 * connection is closed first, so that probes always get through.
 */
const maximumIdle = 100
/** Including connections with a running request. */
const maximumConnections = 2 * maximumIdle

/**
 * Starts the server for `/healthz`, `/readyz` and `/metrics`.
 *
 * @throws OperatorError if it cannot listen on the address.
 */
export async function startOpsServer(
  { host, port }: OpsAddress,
  { readiness, metrics }: OpsSources,
): Promise<OpsServer> {
  const server = createServer(connectionLimits, ({ method, url = '' }, response) => {
    if (method !== 'GET' && method !== 'HEAD') {
      sendAnswer(response, onlyReads)
      return
    }
    switch (url.replace(/\?.*$/s, '')) {
      case '/healthz':
        sendAnswer(response, healthy)
        break
      case '/readyz':
        answerReadiness(response, readiness())
        break
      case '/metrics':
        void answerMetrics(response, metrics)
        break
      default:
        sendAnswer(response, textAnswer(404, 'only /healthz, /readyz and /metrics exist\n'))
    }
  })
  server.maxConnections = maximumConnections
  keepNewest(server, maximumIdle)
  const origin = await listen({ server, scheme: 'http' }, { host, port, flag: '--ops' })
  return {
    url: `${origin}/`,
    async close() {
      await new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      })
    },
  }
}

/** Closes the oldest idle connections beyond a limit. */
function keepNewest(server: Server, most: number): void {
  const idle = new Set<Socket>()
  const add = (socket: Socket): void => {
    idle.add(socket)
    const [oldest] = idle
    if (idle.size <= most || oldest === undefined) return
    // Remove it now, because its `close` event comes later.
    idle.delete(oldest)
    oldest.destroy()
  }
  server.on('connection', (socket: Socket) => {
    add(socket)
    socket.once('close', () => idle.delete(socket))
  })
  server.on('request', ({ socket }, response) => {
    idle.delete(socket)
    response.once('close', () => {
      if (!socket.destroyed) add(socket)
    })
  })
}

function answerReadiness(response: ServerResponse, readiness: Readiness): void {
  const status = readiness.status === 'ready' ? 200 : 503
  sendAnswer(
    response,
    textAnswer(status, `${JSON.stringify(readiness)}\n`, { mediaType: 'application/json' }),
  )
}

async function answerMetrics(response: ServerResponse, metrics: OpsSources['metrics']): Promise<void> {
  try {
    const text = await metrics.read()
    sendAnswer(response, textAnswer(200, text, { mediaType: metrics.contentType }))
  } catch (error) {
    sendAnswer(response, textAnswer(503, `no metrics: ${String(error)}\n`))
  }
}
