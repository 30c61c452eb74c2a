import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { offerUpgrade } from '../send/upgrade.ts'
import type { RequestListener } from './transport.ts'

/** Whether a request asks to go on as a WebSocket (RFC 6455 §4.1). Any other protocol is ignored (RFC 9110 §7.8). */
export function asksForWebSocket(request: IncomingMessage): boolean {
  const { method, headers } = request
  return method === 'GET' && !hasBody(request) && headers.upgrade?.toLowerCase() === 'websocket'
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/**
 * Answers requests that ask for another protocol like any other, and offers the connections of WebSockets. Node before 24.9
 * gives the connection away for every protocol: there the answer to a request that is no WebSocket's closes it.
 *
 * @param refuse - answers a request whose body Node has not read.
 */
export function listenForUpgrades(
  server: Server,
  makeResponse: (request: IncomingMessage) => ServerResponse,
  { answer, refuse }: { readonly answer: RequestListener; readonly refuse: RequestListener },
): void {
  server.on('upgrade', (request: IncomingMessage, socket, head: Buffer) => {
    if (!(socket instanceof Socket)) return
    socket.on('error', () => socket.destroy())
    const response = makeResponse(request)
    response.shouldKeepAlive = false
    try {
      response.assignSocket(socket)
    } catch {
      // An answer before this one is under way: whoever wants to go on with another protocol has to wait for it.
      socket.destroy()
      return
    }
    response.once('finish', () => socket.destroySoon())
    if (asksForWebSocket(request)) offerUpgrade(response, { socket, head })
    if (hasBody(request)) refuse(request, response)
    else answer(request, response)
  })
}
