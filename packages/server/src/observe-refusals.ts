import type { Socket } from 'node:net'
import type { Exchange } from './exchange.ts'
import { toPlainAddress } from './forwarded-addresses.ts'
import type { RequestObserver } from './observe-requests.ts'

/**
 * Makes a watcher of connections that tells observers of what Node refuses by itself, before there is a request:
 * what is no HTTP, a head that is too large, one that does not come to its end.
 *
 * By the socket's errors: a listener for `clientError` would have to give Node's answers itself.
 */
export function observeRefusals(observers: readonly RequestObserver[]): (socket: Socket) => void {
  return (socket) => {
    if (observers.length === 0) return
    // A socket that has gone does not know it any more.
    const { remoteAddress = '' } = socket
    socket.on('error', (error: unknown) => {
      const code = codeOf(error)
      const status = statusOf(code)
      if (status === undefined) return
      const exchange = unreadExchange({ status, error: code, address: toPlainAddress(remoteAddress) })
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
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return 413
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408
    default:
      return code.startsWith('HPE_') ? 400 : undefined
  }
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
