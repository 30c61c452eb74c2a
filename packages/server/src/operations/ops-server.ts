import { createServer, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { connectionLimits } from '../protocol/connection-limits.ts'
import type { Metrics } from './metrics.ts'
import type { Readiness } from './readiness.ts'
import { sendAnswer } from '../send/send-answer.ts'
import { textAnswer } from '../site/answers.ts'
import { listen } from '../transport/listen.ts'

/** Where operators send their requests. */
export interface OpsAddress {
  /** 0 picks a free one. */
  readonly port: number
  /** `*` for all addresses of the machine. */
  readonly host: string
}

/** What the answers are made of. */
export interface OpsSources {
  readonly readiness: () => Readiness
  readonly metrics: Pick<Metrics, 'contentType' | 'read'>
}

/** The listener for operators, apart from the public one. */
export interface OpsServer {
  readonly url: string
  close(): Promise<void>
}

/**
 * More than probes and a scraper ever keep: this listener must not be a way to exhaust descriptors. Whoever keeps the
 * oldest connection beyond them loses it, so that a probe always gets through.
 */
const maximumIdle = 100
/** Those with a request under way included. */
const maximumConnections = 2 * maximumIdle

/**
 * Listens for operators: `/healthz`, `/readyz` and `/metrics`.
 *
 * @throws OperatorError when it cannot listen there.
 */
export async function startOpsServer(
  { host, port }: OpsAddress,
  { readiness, metrics }: OpsSources,
): Promise<OpsServer> {
  const server = createServer(connectionLimits, ({ method, url = '' }, response) => {
    if (method !== 'GET' && method !== 'HEAD') {
      sendAnswer(response, textAnswer(405, 'only GET and HEAD\n', { more: ['Allow', 'GET, HEAD'] }))
      return
    }
    switch (url.replace(/\?.*$/s, '')) {
      case '/healthz':
        sendAnswer(response, textAnswer(200, 'ok\n'))
        break
      case '/readyz':
        answerReadiness(response, readiness())
        break
      case '/metrics':
        void answerMetrics(response, metrics)
        break
      default:
        sendAnswer(response, textAnswer(404, 'only /healthz, /readyz and /metrics are here\n'))
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

/** Closes the connection that has idled longest, where more than so many idle. */
function keepNewest(server: Server, most: number): void {
  const idle = new Set<Socket>()
  const add = (socket: Socket): void => {
    idle.add(socket)
    const [oldest] = idle
    if (idle.size <= most || oldest === undefined) return
    // Its `close` comes later: until then it must not stand in the place of the next.
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
