import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { offerUpgrade } from '../send/upgrade.ts'
import type { RequestListener } from './transport.ts'

/**
 * Returns whether a request asks for a WebSocket (RFC 6455 §4.1). Other protocols are ignored (RFC 9110
 * §7.8).
 */
export function asksForWebSocket(request: IncomingMessage): boolean {
  const { method, headers, httpVersion } = request
  // RFC 9110 §7.8: HTTP/1.0 has no upgrades.
  return (
    httpVersion !== '1.0' &&
    method === 'GET' &&
    !hasBody(request) &&
    headers.upgrade?.toLowerCase() === 'websocket'
  )
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/**
 * Answers upgrade requests like other requests, and offers the connections of WebSockets. Node before 24.9
 * detaches the connection for every protocol; the answer to a request for another protocol then closes it.
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
      // An earlier answer still uses the socket. Clients must wait for it before they ask for an upgrade.
      socket.destroy()
      return
    }
    response.once('finish', () => socket.destroySoon())
    if (asksForWebSocket(request)) offerUpgrade(response, { socket, head })
    if (hasBody(request)) refuse(request, response)
    else answer(request, response)
  })
}
