import { createServer, type IncomingMessage, ServerResponse } from 'node:http'
import { connectionLimits, maximumConnections, socketTimeout, uploadTimeout } from './connection-limits.ts'
import { mustBeRefused } from './must-be-refused.ts'
import { longestTimeout } from './parse-duration.ts'
import { trackConnections } from './track-connections.ts'
import type { RequestListener, Transport, TransportOptions } from './transport.ts'

/** HTTP/1.1 over TCP, with limits on what one client may cost. */
export function createHttpTransport(
  listener: RequestListener,
  { takesUploads, responseClass = ServerResponse }: TransportOptions,
): Transport {
  let isClosing = false

  const accept = (request: IncomingMessage, response: ServerResponse): void => {
    const refusal = refusalOf(request)
    if (refusal !== undefined) {
      refuse(response, refusal)
      return
    }
    tracker.track(response)
    if (isClosing) response.setHeader('Connection', 'close')
    listener(request, response)
  }
  const server = createServer({ ...connectionLimits, ServerResponse: responseClass }, accept)
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    whenItsTurn(response, () => {
      if (refusalOf(request) === undefined) response.writeContinue()
      accept(request, response)
    })
  })
  // RFC 9110 §10.1.1: any other expectation.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    refuse(response, refusalOf(request) ?? 417)
  })
  const tracker = trackConnections(server)
  // A client that has closed its half still waits for its answer (RFC 9112 §9.6); Node's types lack this.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.setTimeout(socketTimeout)
  if (takesUploads) server.requestTimeout = uploadTimeout
  server.maxConnections = maximumConnections

  return {
    scheme: 'http',
    server,
    async drain(gracePeriod) {
      isClosing = true
      const deadline = setTimeout(() => server.closeAllConnections(), Math.min(gracePeriod, longestTimeout))
      await tracker.drain()
      clearTimeout(deadline)
    },
  }
}

/** Behind an answer under way, Node would put a 100 between the head and the body of its own answer. */
function whenItsTurn(response: ServerResponse, act: () => void): void {
  if (response.socket === null) response.once('socket', act)
  else act()
}

/** RFC 9110 §15.6.6: what another major version means is not known. */
function refusalOf({ httpVersionMajor, rawHeaders }: IncomingMessage): 400 | 505 | undefined {
  if (httpVersionMajor !== 1) return 505
  return mustBeRefused(rawHeaders) ? 400 : undefined
}

function refuse(response: ServerResponse, status: 400 | 417 | 505): void {
  response.writeHead(status, { Connection: 'close', 'Cache-Control': 'no-store', 'Content-Length': 0 })
  response.end()
}
