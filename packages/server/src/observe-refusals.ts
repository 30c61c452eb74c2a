import type { Socket } from 'node:net'
import type { Exchange } from './exchange.ts'
import { isAmidRequest } from './observation.ts'
import type { RequestObserver } from './observe-requests.ts'

/**
 * Makes a watcher of connections that tells observers of what Node refuses by itself, before there is a request:
 * what is no HTTP, a head that is too large, one that does not come to its end.
 *
 * By the socket's errors: a listener for `clientError` would have to give Node's answers itself.
 *
 * @param addressOf - of the client; `''` where nobody asks for it.
 */
export function observeRefusals(
  observers: readonly RequestObserver[],
  addressOf: (socket: Socket) => string,
): (socket: Socket) => void {
  return (socket) => {
    if (observers.length === 0) return
    // A socket that has gone does not know it any more.
    const address = addressOf(socket)
    socket.on('error', (error: unknown) => {
      const code = codeOf(error)
      const status = statusOf(code)
      if (status === undefined || !isRefusal(socket, code)) return
      const exchange = unreadExchange({ status, error: code, address })
      for (const { begin, end } of observers) {
        begin?.()
        end(exchange)
      }
    })
  }
}

/** `''` where there is none. An application may end a connection with any error: DOMException's code is a number. */
function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return ''
  return typeof error.code === 'string' ? error.code : ''
}

/** As Node answers; `undefined` for errors of the connection. */
function statusOf(code: string): number | undefined {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return 431
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408
    default:
      return code.startsWith('HPE_') ? 400 : undefined
  }
}

/** Whether Node has given an answer of its own, to somebody who had asked for something. */
function isRefusal(socket: Socket, code: string): boolean {
  if (socket.writableEnded || code === 'HPE_CLOSED_CONNECTION') return false
  // Browsers open connections ahead, and balancers look whether somebody listens.
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) return false
  return !isAmidRequest(socket)
}

function unreadExchange(known: Pick<Exchange, 'status' | 'error' | 'address'>): Exchange {
  return {
    request: { method: undefined, url: undefined, httpVersion: '', rawHeaders: [] },
    coding: 'identity',
    cache: 'other',
    bytes: 0,
    savedBytes: 0,
    milliseconds: undefined,
    isAborted: false,
    ...known,
  }
}
